"""Pull requests on their way into the database and the repositories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from forgeseed.clock import stamp

from hubseed.git import fork, git
from hubseed.issues import add_log, typed
from hubseed.requests import Request, Work
from hubseed.rows import Rows


@dataclass(frozen=True, slots=True)
class Span:
    """What a pull request asks to merge.

    Attributes:
        row: of the diff, where the first changed line stands.
        blob: the file as it would be, by which Pagure finds the diff of a comment.
        tree: all files as they would be.
    """

    first: str
    last: str
    path: str
    row: int
    blob: str = ""
    tree: str = ""


def commit_work(name: str, work: Work, marks: dict[int, str]) -> tuple[Path, list[str]]:
    """Fork a project's repository and commit there; return the fork and the commits."""
    folder = fork(name, work.owner.login)
    parts, parent = [], marks[work.base]
    who = f"{work.owner.name} <{work.owner.mail}> {int(work.when.timestamp())} +0000"
    for place, (message, path, text) in enumerate(work.commits, start=1):
        head = f"commit refs/heads/{work.branch}\nmark :{place}\nauthor {who}\ncommitter {who}\n"
        parts += [head.encode(), _data(message + "\n"), f"from {parent}\n".encode()]
        parts += [f"M 100644 inline {path}\n".encode(), _data(text), b"\n"]
        parent = f":{place}"
    git(folder, "fast-import", "--quiet", "--done", given=b"".join([*parts, b"done\n"]))
    made = git(folder, "rev-list", "--reverse", f"{marks[work.base]}..{work.branch}")
    return folder, made.split()


def span_of(request: Request, marks: dict[int, str], commits: list[str], folder: Path) -> Span:
    """Return what a pull request asks to merge."""
    if request.merged:
        own = request.merged.commits
        return Span(marks[own[0].mark], marks[own[-1].mark], own[0].files[0][0], 1)
    if request.work is None:
        raise ValueError("a pull request is of a branch or of a fork")
    path = request.work.commits[0][1]
    shown = git(folder, "diff", marks[request.work.base], commits[-1], "--", path)
    lines = shown[shown.index("\n@@") + 1 :].split("\n")
    row = _row(lines, request.inline.line if request.inline else "")
    blob, tree = (git(folder, "rev-parse", f"{commits[-1]}{of}") for of in (f":{path}", "^{tree}"))
    return Span(commits[0], commits[-1], path, row, blob, tree)


def _row(lines: list[str], held: str) -> int:
    """Return which line of a diff is the first new one that holds something, if one does."""
    new = [(place, line) for place, line in enumerate(lines, start=1) if line.startswith("+")]
    return next((place for place, line in new if held in line), new[0][0])


def add_request(
    rows: Rows, request: Request, span: Span, project: int, source: int, tags: dict[str, int],
    ids: dict[str, int],
) -> None:  # fmt: skip
    """Add a pull request with its comments."""
    author = ids[request.author.login]
    rows.add(
        "pull_requests",
        id=request.number,
        uid=request.uid,
        title=request.title,
        project_id=project,
        branch="main",
        project_id_from=source,
        branch_from=request.branch,
        commit_start=span.first,
        commit_stop=span.last,
        initial_comment=typed(request.body),
        user_id=author,
        assignee_id=ids[request.assignee.login] if request.assignee else None,
        allow_rebase=False,
        private=False,
        status=request.status,
        closed_by_id=ids[request.closer.login] if request.closer else None,
        closed_at=stamp(request.closed) if request.closed else None,
        date_created=stamp(request.made),
        updated_on=stamp(request.touched),
        last_updated=stamp(request.touched),
    )
    for note in request.notes:
        _add_comment(rows, request, ids[note.who.login], stamp(note.when), note.text)
    if request.inline:
        remark = request.inline
        at = stamp(remark.when)
        _add_comment(rows, request, ids[remark.who.login], at, remark.text, span)
    for name in request.tags:
        rows.add(
            "tags_pull_requests",
            tag_id=tags[name],
            request_uid=request.uid,
            date_created=stamp(request.made),
        )
    if request.project.is_public:
        number, uid = request.number, request.uid
        add_log(rows, author, project, "created", request.made, number, pull_request_uid=uid)


def _add_comment(
    rows: Rows, request: Request, who: int, when: str, text: str, at: Span | None = None
) -> None:
    rows.add(
        "pull_request_comments",
        pull_request_uid=request.uid,
        commit_id=at.blob if at else None,
        filename=at.path if at else None,
        line=at.row if at else None,
        tree_id=at.tree if at else None,
        user_id=who,
        comment=typed(text),
        notification=False,
        date_created=when,
    )


def _data(text: str) -> bytes:
    raw = text.encode()
    return f"data {len(raw)}\n".encode() + raw + b"\n"
