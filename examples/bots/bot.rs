// A bot in Rust. It plays random actions; put your idea into `choose`.
//
// rustc -O -o bot examples/bots/bot.rs
// hanamachi evaluate process:./bot random --game hanamikoji

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, Write};

// One of the numbers in `legal`. `message` is the whole line, a JSON object: its "view" has all
// that you may know, and there "legal" has the words of each action:
// {"action":5,"words":"secret 4","pieces":["use:secret","hand:4"]}.
fn choose(legal: &[usize], _message: &str) -> usize {
    legal[random() % legal.len()]
}

// The standard library has no random numbers, but each of its hash tables has a random key.
fn random() -> usize {
    RandomState::new().build_hasher().finish() as usize
}

// The numbers after a key, such as "choose_from":[3,5,8]. No JSON reader is needed for them.
fn numbers(message: &str, key: &str) -> Vec<usize> {
    let after = message.split_once(&format!("\"{key}\":[")).map_or("", |(_, after)| after);
    let list = after.split(']').next().unwrap_or("");
    list.split(',').filter_map(|number| number.parse().ok()).collect()
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let message = line?;
        // the type of a message always stands first
        if message.starts_with(r#"{"type":"hello""#) {
            println!(r#"{{"type":"ready"}}"#);
        } else if message.starts_with(r#"{"type":"move""#) {
            let action = choose(&numbers(&message, "choose_from"), &message);
            println!(r#"{{"action":{action}}}"#);
        }
        io::stdout().flush()?;
        // "end" tells how a game ended and "goodbye" that there are no more; neither wants an answer
    }
    Ok(())
}
