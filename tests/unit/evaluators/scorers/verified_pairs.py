"""Random (task, evidence) pairs, scored by webarena-verified itself and by the scorer.

A program: it runs in an environment that has webarena-verified, which pins what Arena does not.
Arguments: seed, how many pairs. It prints one JSON document.
"""

from __future__ import annotations

import json
import logging
import random
import re
import sys
import time
import urllib.parse
from collections import Counter
from pathlib import Path
from typing import Any

logging.disable(logging.CRITICAL)

from webarena_verified.api.internal import evaluator as published  # noqa: E402
from webarena_verified.api.internal.data_reader import WebArenaVerifiedDataReader  # noqa: E402
from webarena_verified.types.config import EnvironmentConfig, WebArenaVerifiedConfig  # noqa: E402
from webarena_verified.types.task import WebArenaSite  # noqa: E402

from evaluators.evidence import Ended, Evidence  # noqa: E402
from evaluators.network import RequestRecord  # noqa: E402
from evaluators.scorers.base import OriginalTask, ScorerStatus  # noqa: E402
from evaluators.scorers.verified.scorer import VERIFIED_SCORER  # noqa: E402

BASES = {
    "__SHOPPING__": "http://shop.arena.test",
    "__SHOPPING_ADMIN__": "http://merchant.arena.test/admin",
    "__REDDIT__": "http://forum.arena.test",
    "__GITLAB__": "http://forge.arena.test",
    "__MAP__": "http://map.arena.test",
    "__WIKIPEDIA__": "http://wiki.arena.test",
}
TEXTS = [
    *["", "n/a", "None", "0", "1", "yes", "no", "12", "1,234", "$12.50", "12.5", "12,50 €"],
    *["3 items", "2h 5m", "1:35", "1:35 hours", "90", "5 min", "5k", "1.2 km", "800 m", "1 200 m"],
    *["Jan 5", "2023-01-05", "01/05/2023", "May", "12%", "March 2023", "40.44, -79.95", "(50)"],
    *["-7", "seven", "^.*$", "^[0-9]+$", "Pittsburgh", "Carnegie Mellon University", "Kettle™"],
    *["Buffalo-Niagara", '"quoted"', "abc.", "ABC", "http://shop.arena.test/x", "true", "ﬁne"],
    *["É", "a, b", "null", "1e3", "inf", "two hundred"],
]
RAW: list[Any] = [
    *[0, 1, 7.5, -3, True, False, None, [], {}, [1], ["a", "b"], [[1, 2]], {"a": 1}, "x"],
    *[{"latitude": 40.4, "longitude": -79.9}, [40.4, -79.9]],
]
OTHER_URLS = [
    *["http://shop.arena.test/", "http://merchant.arena.test/admin/x?y=1"],
    *["http://forum.arena.test/f/a", "http://forge.arena.test/a/app.js", "http://other.test/z"],
    *["http://map.arena.test/search?query=x", "http://forge.arena.test/-/blob/main/a b"],
]
FORM = "application/x-www-form-urlencoded"


def main(seed: int, pairs: int) -> None:
    """Score the pairs both ways, and print how often the scores differ, where, and the times."""
    environments = {WebArenaSite(k): EnvironmentConfig(urls=[v]) for k, v in BASES.items()}
    config = WebArenaVerifiedConfig(environments=environments)
    judge = published.WebArenaVerifiedEvaluator(
        config=config, reader=WebArenaVerifiedDataReader(config)
    )
    published.compute_data_file_checksum = lambda *_: ""  # the file's digest, anew for each task
    records = {
        one["task_id"]: one for one in json.loads(Path(config.test_data_file).read_text("utf-8"))
    }
    even = sorted(number for number in records if number % 2 == 0)
    draw = Draw(seed)
    counts: Counter[str] = Counter()
    differing: list[list[Any]] = []
    theirs_s = ours_s = 0.0
    for _ in range(pairs):
        record = records[draw.choice(even)]
        answer, requests = draw.answer(record), draw.requests(record)
        entries = [har_entry(one) for one in requests]
        began = time.perf_counter()
        found = judge.evaluate_task(
            task_id=record["task_id"], agent_response=answer, network_trace=entries
        )
        between = time.perf_counter()
        score = ours(record, answer, requests)
        theirs_s += between - began
        ours_s += time.perf_counter() - between
        theirs = "crash" if found.status == "error" else str(found.score)
        counts[theirs] += 1
        if theirs != score:
            differing.append([record["task_id"], theirs, score, answer])
    print(  # noqa: T201  a program
        json.dumps(
            {
                "pairs": pairs,
                "counts": counts,
                "differing": differing,
                "theirs_ms": theirs_s / pairs * 1000,
                "ours_ms": ours_s / pairs * 1000,
            }
        )
    )


def ours(record: dict[str, Any], answer: str, requests: list[RequestRecord]) -> str:
    """Score a pair by the scorer."""
    original = OriginalTask.model_validate(
        {
            "format": "webarena-verified",
            "id": str(record["task_id"]),
            "file_sha256": "0" * 64,
            "record": record,
            "bases": BASES,
        }
    )
    evidence = Evidence.model_validate(
        {
            "suite": "s",
            "task": "t",
            "world": "offline",
            "agent": "a",
            "repeat": 0,
            "attempt": 1,
            "started_at": "",
            "seconds": 1,
            "answer": answer,
            "ended": Ended.STOPPED,
            "network": requests,
        }
    )
    found = VERIFIED_SCORER.score(original, evidence, {})
    if found.status is ScorerStatus.SCORED:
        return str(found.value)
    return "crash" if found.status is ScorerStatus.CRASH else f"unscored: {found.because}"


def har_entry(record: RequestRecord) -> dict[str, Any]:
    """Return a request as a HAR file has it."""

    def headers(found: dict[str, str]) -> list[dict[str, str]]:
        return [{"name": name, "value": value} for name, value in found.items()]

    cookies = (
        one.partition(";")[0].partition("=")
        for one in record.response_headers.get("set-cookie", "").splitlines()
    )
    entry: dict[str, Any] = {
        "request": {
            "url": record.url,
            "method": record.method,
            "headers": headers(record.request_headers),
        },
        "response": {
            "status": -1 if record.status is None else record.status,
            "headers": headers(record.response_headers),
            "redirectURL": "",
            "cookies": [{"name": name, "value": value} for name, _, value in cookies],
        },
    }
    if record.request_body is not None:
        kind = record.request_headers.get("content-type", "")
        entry["request"]["postData"] = {"mimeType": kind, "text": record.request_body}
    if record.response_body is not None:
        kind = record.response_headers.get("content-type", "")
        entry["response"]["content"] = {"mimeType": kind, "text": record.response_body}
    return entry


def rendered(value: Any) -> Any:
    """Put URLs in the place of placeholders."""
    match value:
        case str():
            for name, base in BASES.items():
                value = value.replace(name, base)
            return value
        case list():
            return [rendered(one) for one in value]
        case dict():
            return {name: rendered(one) for name, one in value.items()}
        case _:
            return value


class Draw(random.Random):
    """Draws answers and requests around the gold of a task."""

    def hits(self, share: float) -> bool:
        """Say yes as often as that."""
        return self.random() < share

    def answer(self, record: dict[str, Any]) -> str:
        """Return what an agent may have written."""
        expected = record["eval"][0]["expected"]
        data = expected.get("retrieved_data")
        if isinstance(data, list):
            data = [one[0] if isinstance(one, list) and one else one for one in data]
        said = {
            "task_type": expected["task_type"],
            "status": expected["status"],
            "retrieved_data": rendered(json.loads(json.dumps(data))),
            "error_details": None,
        }
        if self.hits(0.55):
            for _ in range(self.randint(1, 2)):
                self.change_data(said)
        return self.written(said)

    def change_data(self, said: dict[str, Any]) -> None:
        """Change what was retrieved."""
        data, kind = said["retrieved_data"], self.randrange(10)
        places = list(leaves(data))
        if places and kind < 6:
            holder, key = self.choice(places)
            holder[key] = self.changed(holder[key])
        elif kind == 6 and isinstance(data, list):
            data.append(self.choice(data) if data and self.hits(0.5) else self.choice(TEXTS))
        elif kind == 7 and isinstance(data, list) and data:
            data.pop(self.randrange(len(data)))
        elif kind == 8:
            others = [None, [], {}, "x", 5, self.choice(TEXTS), [self.choice(RAW)], [data]]
            first = data[0] if isinstance(data, list) and data else "y"
            said["retrieved_data"] = self.choice([*others, first])
        elif kind == 9 and isinstance(data, list):
            self.shuffle(data)

    def changed(self, value: Any) -> Any:
        """Return a value near another, or far from it."""
        text = str(value)
        near = [
            *[text.upper(), f" {text}. ", text[:-1], text.replace(" ", "-")],
            f"^.*{re.escape(text[:3])}.*$",
        ]
        try:
            near.append(float(text) * self.choice([1, 1.01, 1.05, 1.2]))  # type: ignore[arg-type]
        except ValueError:
            near.append(f"{text}s")
        return self.choice(
            [*near, self.choice(TEXTS), self.choice(RAW), [value, self.choice(TEXTS)]]
        )

    def written(self, said: dict[str, Any]) -> str:
        """Return a response as text, sometimes with another status, form or fence."""
        kind = self.randrange(24)
        if kind == 0:
            said["status"] = self.choice(["success", "FAILURE", None, 7, "NOT_FOUND_ERROR", ""])
        elif kind == 1:
            said["task_type"] = self.choice(["retrieve", "MUTATE", "navigate", None, " Retrieve "])
        elif kind == 2:
            said.pop(self.choice(list(said)))
        elif kind == 3:
            said["performed_operation"] = said.pop("task_type")
        text = json.dumps(said, ensure_ascii=self.hits(0.5))
        if kind == 4:
            return f"```json\n{text}\n```"
        if kind == 5:
            return f"Here: ```{text}``` done"
        if kind == 6:
            return self.choice(["", "done", "[1,2]", "null", "5", '"x"', "{}"])
        return text

    def requests(self, record: dict[str, Any]) -> list[RequestRecord]:
        """Return the requests of an episode."""
        found = [self.other() for _ in range(self.randint(1, 4))]
        for config in record["eval"][1:]:
            if config.get("should_not_exist") and self.hits(0.6):
                continue
            if self.hits(0.88):
                found.append(self.wanted(config["expected"]))
                if self.hits(0.15):
                    found.append(self.wanted(config["expected"]))
        if self.hits(0.3):
            found.append(self.other())
        if self.hits(0.01):
            return []
        return [one.model_copy(update={"index": index}) for index, one in enumerate(found)]

    def other(self) -> RequestRecord:
        """Return a request that nobody asked for."""
        return RequestRecord(
            index=0,
            step=0,
            method=self.choice(["GET", "GET", "POST"]),
            url=self.choice(OTHER_URLS),
            status=200,
            request_headers={"accept": self.choice(["text/html", "*/*"])},
            response_headers={"content-type": "text/html"},
        )

    def wanted(self, expected: dict[str, Any]) -> RequestRecord:
        """Return a request that is expected, or nearly so."""
        method, status = expected.get("http_method", "GET"), expected.get("response_status", 200)
        headers = self.headers(expected, method)
        body = self.body(expected, headers)
        kind, answer = "text/html", None
        if expected.get("response_content"):
            content = nested(expected["response_content"])
            if self.hits(0.3):
                content[self.choice(list(content))] = "zz"
            kind, answer = "application/json", json.dumps(content)
        answered = {"content-type": kind}
        if expected.get("response_cookies"):
            answered["set-cookie"] = "\n".join(
                f"{name}={urllib.parse.quote(literal(value) if self.hits(0.8) else 'n')}; path=/"
                for name, value in expected["response_cookies"].items()
            )
        if self.hits(0.07):
            status = self.choice([200, 302, 404, 500, None])
        if self.hits(0.07):
            method = self.choice(["GET", "POST", "PUT", "post"])
        return RequestRecord(
            index=0,
            step=1,
            method=method,
            url=self.url(expected),
            status=status,
            request_headers=headers,
            request_body=body,
            request_bytes=len(body or ""),
            response_headers=answered,
            response_body=answer,
        )

    def url(self, expected: dict[str, Any]) -> str:
        """Return a URL that is asked for, or nearly so."""
        url = expected["url"]
        url = rendered(literal(self.choice(url) if isinstance(url, list) else url))
        query = expected.get("query_params")
        if query:
            url += ("&" if "?" in url else "?") + urllib.parse.urlencode(query, doseq=True)
        more = "&" if "?" in url else "?"
        return {
            0: f"{url}/",
            1: url + more + self.choice(["a=1", "serializer=x", "page=2", "q=", "form_key=1"]),
            2: f"{url}#top",
            3: url.replace("http://", "https://"),
            4: url.partition("?")[0],
            5: f"{url}x",
            6: url.upper() if self.hits(0.3) else url,
        }.get(self.randrange(14), url)

    def headers(self, expected: dict[str, Any], method: str) -> dict[str, str]:
        """Return the headers of a request."""
        page = method == "GET" and self.hits(0.9)
        found = {"accept": "text/html,application/xhtml+xml" if page else "*/*"}
        if method == "GET" and self.hits(0.5):
            found |= {"sec-fetch-dest": "document", "sec-fetch-mode": "navigate"}
            found |= {"sec-fetch-user": "?1"}
        for name, value in (expected.get("headers") or {}).items():
            first = value[0] if isinstance(value, list) else value
            found[name.lower()] = rendered(str(first).strip("^$")) if self.hits(0.8) else "z"
        return found

    def body(self, expected: dict[str, Any], headers: dict[str, str]) -> str | None:
        """Return a body as a form, multipart or JSON, and say so in the headers."""
        if not expected.get("post_data"):
            return None
        values = rendered(nested(expected["post_data"]))
        if self.hits(0.35):
            name = self.choice(list(values))
            values[name] = self.changed(values[name])
        if self.hits(0.1):
            values["extra"] = "1"
        if any(isinstance(one, dict) for one in values.values()) or self.hits(0.3):
            headers["content-type"] = "application/json"
            return json.dumps(values)
        texts = {
            name: json.dumps(one) if isinstance(one, (dict, list)) else str(one)
            for name, one in values.items()
        }
        if self.hits(0.3):
            headers["content-type"] = "multipart/form-data; boundary=XX"
            head = '--XX\r\nContent-Disposition: form-data; name="'
            parts = (f'{head}{name}"\r\n\r\n{one}\r\n' for name, one in texts.items())
            return "".join(parts) + "--XX--\r\n"
        headers["content-type"] = FORM
        return urllib.parse.urlencode(texts)


def leaves(value: Any) -> Any:
    """Yield the holder and key of every value that holds no others."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        if isinstance(value[key], (dict, list)):
            yield from leaves(value[key])
        else:
            yield value, key


def nested(expected: dict[str, Any]) -> dict[str, Any]:
    """Return a body that holds what is expected at names and at simple paths."""
    found: dict[str, Any] = {}
    for key, value in expected.items():
        parts = [one for one in re.split(r"[.\[\]]+", key.lstrip("$")) if one]
        holder = found
        for part in parts[:-1] if key.startswith("$") else ():
            inner = holder.setdefault(part, {})
            holder = inner if isinstance(inner, dict) else {}
        name = parts[-1] if key.startswith("$") and parts else key
        holder[name] = literal(value) if isinstance(value, str) else value
    return found


def literal(text: Any) -> str:
    """Return a text that a simple pattern matches; another text as it is."""
    if not isinstance(text, str) or not (text.startswith("^") and text.endswith("$")):
        return str(text)
    found = re.sub(r"\\d\+|\[0-9\]\+|\[\^/\]\+|\(\?:[^)]*\)|\.\*|\.\+|\\w\+", "7", text[1:-1])
    return found.replace("\\", "").replace("?", "")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
