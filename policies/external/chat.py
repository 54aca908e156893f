"""Ask a language model at an endpoint that speaks OpenAI's protocol for chats.

What may pass is tried again, after waits that grow: busy servers (429), failing ones (5xx), cut
connections, answers that are no JSON, and requests that take too long. Everything else ends in one
sentence at once. No sentence, and no file, ever holds the key.
"""

import json
import os
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPException, HTTPResponse, InvalidURL
from threading import Event
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from hanamachi.errors import Unavailable, UserError, shown
from hanamachi.limits import REPLY_BYTES
from hanamachi.policies.external.daemon_threads import in_time
from hanamachi.sessions.prompts import Message
from hanamachi.storage.reading import parse_json

USUAL_KEY = "OPENAI_API_KEY"
THIS_COMPUTER = ("127.0.0.1", "::1", "localhost")
PASSING = {408, 409, 425, 429}  # statuses that may change, besides those of failing servers
LONGEST_WAIT = 300.0  # seconds before the next attempt, whatever the server asks for
CHUNK = 1 << 16  # bytes
LABEL = 63  # characters of a part of a host's name
MOST_TOKENS = 1 << 40  # of one reply that are believed


class Reply(NamedTuple):
    """What a model answered, and the tokens that the server counted; 0 if it counts none."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class TemporaryFailure(Exception):
    """An attempt has failed in a way that may pass."""

    def __init__(self, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.wait = wait  # seconds that the server asks for


class NoRedirection(HTTPRedirectHandler):
    """Follows no redirection: the key is for this server alone."""

    def redirect_request(self, *given: Any) -> None:
        return None


@dataclass(frozen=True)
class Chat:
    """A model at an endpoint, and how patiently it is asked."""

    url: str  #: of the API, such as http://127.0.0.1:8000/v1
    model: str
    sampling: Mapping[str, Any]  #: sent with each request, such as temperature
    key: str  #: the environment variable that holds the key; "" for the usual one
    timeout: float  #: seconds for one attempt
    attempts: int
    wait: float  #: seconds before the second attempt; each later wait is twice as long

    def __post_init__(self) -> None:
        """UserError unless this is an address to which requests, and the key, can be sent."""
        if not is_address(self.url):
            raise UserError(f"url must be like http://127.0.0.1:8000/v1, not {shown(self.url)}")
        parts = urlsplit(self.url)
        if parts.username or parts.password or parts.query or parts.fragment:
            raise UserError(
                "url must hold no user, no password and nothing after ?: put the key into an "
                "environment variable and name that with key=NAME"
            )
        if self.key and self.key not in os.environ:
            raise UserError(f"key={self.key} names no variable of the environment: set it first")

    def request(self, messages: Sequence[Message]) -> bytes:
        """The body of a request; equal for equal questions."""
        body = {"model": self.model, "messages": messages, **self.sampling}
        return json.dumps(body, sort_keys=True).encode()

    def ask(self, body: bytes, stop: Event) -> Reply:
        """The answer to a request; once `stop` is set, no attempt is made.

        Unavailable if there is none, CancelledError if it was never sent.
        """
        if stop.is_set():
            raise CancelledError
        wait, made, stopped = self.wait, 0, False
        while not stopped:
            try:
                return self._attempt(body)
            except TemporaryFailure as error:
                problem, asked_for = str(error), error.wait
            made += 1
            pause = max(wait * random.uniform(0.5, 1.5), asked_for)  # so that not all come at once
            stopped = made == self.attempts or stop.wait(min(pause, LONGEST_WAIT))
            wait *= 2
        times = "attempt" if made == 1 else "attempts"
        raise Unavailable(f"{self.url} gave no answer in {made} {times}: {problem}")

    def _attempt(self, body: bytes) -> Reply:
        """The answer to a single request.

        TemporaryFailure if another attempt may help, Unavailable if none would.
        """
        headers = {"Content-Type": "application/json"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        request = Request(f"{self.url.rstrip('/')}/chat/completions", body, headers)
        deadline = time.monotonic() + self.timeout
        try:
            opening = partial(self._opener().open, request, timeout=self.timeout)
            return reply_in(content_of(in_time(opening, self.timeout), deadline))
        except HTTPError as error:
            raise self._refused(error, key, deadline) from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError | ConnectionResetError | BrokenPipeError):
                raise TemporaryFailure(reason_of(error.reason)) from None
            raise Unavailable(
                f"nothing answers at {self.url} ({reason_of(error.reason)}): start the server, or "
                "correct the url"
            ) from None
        except (ValueError, InvalidURL) as error:  # of an address that cannot be
            raise Unavailable(
                f"{self.url} cannot be asked ({reason_of(error)}): correct the url, or the proxy "
                "in http_proxy or https_proxy"
            ) from None
        except (OSError, HTTPException) as error:
            raise TemporaryFailure(reason_of(error)) from None

    def _refused(self, error: HTTPError, key: str, deadline: float) -> Exception:
        """What an answer other than 200 means."""
        try:
            said = message_in(content_of(error, deadline)).replace(key or "\0", "***")
        except (OSError, HTTPException, TemporaryFailure):  # of its words, not of the answer
            said = ""
        problem = f"status {error.code} {said}".strip()
        if error.code in PASSING or error.code >= 500:
            return TemporaryFailure(problem, seconds(error.headers.get("Retry-After", "")))
        if error.code in (401, 403):  # servers repeat parts of the key
            which = self.key or USUAL_KEY
            held = f"the key in {which}" if key else f"requests without a key; set {which}"
            return Unavailable(f"{self.url} refuses {held} (status {error.code})")
        return Unavailable(f"{self.url} refuses the request: {problem}")

    def _key(self) -> str:
        """The key, or "" if none may be sent.

        The usual key goes to other computers only by https; one that is named goes everywhere.
        """
        parts = urlsplit(self.url)
        if not self.key and parts.scheme != "https" and parts.hostname not in THIS_COMPUTER:
            return ""
        key = os.environ.get(self.key or USUAL_KEY, "").strip()
        if not key.isascii() or not key.isprintable():
            raise Unavailable(f"{self.key or USUAL_KEY} holds characters that no key has")
        return key

    def _opener(self) -> OpenerDirector:
        """This computer is asked directly, all others through the proxies of the environment."""
        local = urlsplit(self.url).hostname in THIS_COMPUTER
        return build_opener(NoRedirection, ProxyHandler({} if local else None))


# --- What comes back


def content_of(response: HTTPResponse | HTTPError, deadline: float) -> bytes:
    """The whole answer; TimeoutError if it comes too slowly, TemporaryFailure if it is too long."""

    def read() -> bytes:
        content = b""
        with response:
            while part := response.read1(CHUNK):
                content += part
                if time.monotonic() > deadline:
                    raise TimeoutError
                if len(content) > REPLY_BYTES:
                    raise TemporaryFailure(f"an answer of more than {REPLY_BYTES:,} bytes")
        return content

    return in_time(read, deadline - time.monotonic())


def reply_in(content: bytes) -> Reply:
    """The reply that an answer holds; TemporaryFailure if it holds none."""
    try:
        answer = parse_json(content)
        text = answer["choices"][0]["message"].get("content") or ""
    except (UserError, LookupError, TypeError, AttributeError):
        raise TemporaryFailure("the answer holds no reply") from None
    if not isinstance(text, str):
        raise TemporaryFailure("the answer holds no reply")
    text = text.encode("utf-8", "replace").decode()  # half a character cannot be kept
    usage = answer.get("usage")
    known = usage if isinstance(usage, Mapping) else {}
    return Reply(text, *(tokens(known.get(f"{kind}_tokens")) for kind in ("prompt", "completion")))


def tokens(count: Any) -> int:
    return count if type(count) is int and 0 < count < MOST_TOKENS else 0


def message_in(content: bytes) -> str:
    """What a server says of an error, in one line."""
    try:
        error = parse_json(content)["error"]
        said = error["message"] if isinstance(error, Mapping) else error
    except (UserError, LookupError, TypeError):
        return ""
    return " ".join(str(said).split())


def seconds(retry_after: str) -> float:
    """The seconds in a header Retry-After, which has a number or a date."""
    try:
        return float(retry_after)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(retry_after).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return 0.0


def is_address(url: str) -> bool:
    """Whether requests can be sent there: of printable ASCII, with a host and a valid port."""
    if not url.isascii() or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        labels = (parts.hostname or "").split(".")
        named = all(0 < len(label) <= LABEL for label in labels)
        return parts.scheme in ("http", "https") and named and parts.port != 0
    except ValueError:  # of a port, or an address in brackets
        return False


def reason_of(error: BaseException | str) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
