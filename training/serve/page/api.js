// Requests to the server; whatever goes wrong becomes one sentence.

export class Refused extends Error {}

/** The JSON answer to a request, or Refused with a sentence that says what is wrong. */
export async function ask(path, body) {
  const request = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let response, answer;
  try {
    response = await fetch(path, request || {});
  } catch {
    throw new Refused("The server does not answer. Is hanamachi serve still running?");
  }
  try {
    answer = await response.json();
  } catch {
    throw new Refused(`The server's answer could not be read (${response.status}).`);
  }
  if (!response.ok) throw new Refused(answer.error || `The server refused (${response.status}).`);
  return answer;
}
