// A bot in C++. It plays random actions; put your idea into `choose`.
//
// g++ -O2 -o bot examples/bots/bot.cpp
// hanamachi evaluate process:./bot random --game hanamikoji

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

std::mt19937 generator{std::random_device{}()};

// One of the numbers in `legal`. `message` is the whole line, a JSON object: its "view" has all
// that you may know, and there "legal" has the words of each action:
// {"action":5,"words":"secret 4","pieces":["use:secret","hand:4"]}.
int choose(const std::vector<int>& legal, const std::string& message) {
  (void)message;  // your idea will read it
  std::uniform_int_distribution<size_t> any(0, legal.size() - 1);
  return legal[any(generator)];
}

// The type of a message, which always stands first: {"type":"move", ...
bool is(const std::string& message, const std::string& type) {
  return message.rfind("{\"type\":\"" + type + "\"", 0) == 0;
}

// The numbers after a key, such as "choose_from":[3,5,8]. No JSON reader is needed for them.
std::vector<int> numbers(const std::string& message, const std::string& key) {
  std::vector<int> found;
  size_t place = message.find("\"" + key + "\":[");
  if (place == std::string::npos) return found;
  const char* at = message.c_str() + place + key.size() + 4;
  while (*at != ']') {
    char* after;
    found.push_back(std::strtol(at, &after, 10));
    at = *after == ',' ? after + 1 : after;
  }
  return found;
}

int main() {
  std::string message;
  while (std::getline(std::cin, message)) {
    if (is(message, "hello")) {
      std::cout << R"({"type":"ready"})" << std::endl;
    } else if (is(message, "move")) {
      int action = choose(numbers(message, "choose_from"), message);
      std::cout << "{\"action\":" << action << "}" << std::endl;  // endl also sends it
    }
    // "end" tells how a game ended and "goodbye" that there are no more; neither wants an answer
  }
}
