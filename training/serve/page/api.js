// Requests to the server; whatever goes wrong becomes one sentence.

const FULL = 503; // the status of a refusal after which trying again later is of use

export class Refused extends Error {}

/**
 * The JSON answer to a request, or Refused with a sentence that says what is wrong, and whether to
 * try again `later`; `signal` ends it.
 */
export async function ask(path, body, signal) {
  const request = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let response, answer;
  try {
    response = await fetch(path, { ...request, signal });
  } catch {
    throw new Refused("The server does not answer. Is hanamachi serve still running?");
  }
  try {
    answer = await response.json();
  } catch {
    throw new Refused(`The server's answer could not be read (${response.status}).`);
  }
  if (response.ok) return answer;
  const refused = new Refused(answer.error || `The server refused (${response.status}).`);
  refused.later = response.status === FULL;
  throw refused;
}
