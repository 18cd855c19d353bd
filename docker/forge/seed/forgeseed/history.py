"""The history of a repository: who changed what when, on which branch, for which issue."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from datetime import datetime
from random import Random

from forgeseed import code
from forgeseed.clock import DAY, LAST, moments
from forgeseed.code import Module
from forgeseed.issues import BIG, CLOSED, Issue
from forgeseed.people import Person
from forgeseed.projects import Project
from forgeseed.sources import vocabulary

MAIN = "main"
FOLDERS = {"python": "", "go": "cmd", "ruby": "lib"}  # of the sources; "src" elsewhere
FIX = (
    "Fix the {thing}: check its input first",
    "Do not trip over an empty {thing}",
    "{Thing}: stop early where nothing is to be done",
)
GROW = ("Add {function} to the {thing}", "{Thing}: add {function}", "New function {function}")
TURN = (
    "Raise the limit of {function} to {to}",
    "{function}: {to} instead of {old}",
    "Set the limit in {function} to {to}",
)
LOWER = (
    "Lower the limit of {function} to {to}",
    "{function}: {to} instead of {old}",
    "Set the limit in {function} to {to}",
)
TELL = ("Say what {function} does", "Comment on {function}")
DROP = ("Remove {function}, which nobody calls", "Take {function} out")
NOTES = ("README: how to try the {thing}", "Explain the {thing} in the README")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit.

    Attributes:
        branch: the branch whose head it becomes.
        parents: marks of earlier commits, the first parent first.
        files: path and content of what differs from the first parent.
    """

    mark: int
    branch: str
    parents: tuple[int, ...]
    author: Person
    when: datetime
    message: str
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Tag:
    """An annotated tag."""

    name: str
    mark: int
    author: Person
    when: datetime


@dataclass(slots=True)
class Branch:
    """A line of work: its head and the module that only it changes."""

    name: str
    head: int
    module: Module
    left: int
    author: Person


@dataclass(slots=True)
class History:
    """All that one repository holds, in the order of time."""

    project: Project
    commits: list[Commit] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)


def history(project: Project, issues: list[Issue]) -> History:
    """Return a project's history; its commits name issues of the project."""
    return _Writer(project, issues).written()


class _Writer:
    def __init__(self, project: Project, issues: list[Issue]) -> None:
        self._rng = Random(f"forge/history/{project.identifier}")
        self._project = project
        self._made = History(project)
        self._modules: dict[str, Module] = {}
        self._notes: list[str] = []
        self._changes: list[str] = []
        self._head = 0
        self._branch: Branch | None = None
        self._opened = 0
        self._settled = [one for one in issues if one.status == CLOSED and one.tracker != "Support"]
        self._all = issues
        # The one who leads commits most, the others less and less.
        people = project.committers
        self._people = people
        self._weights = [1 / (place + 1) for place in range(len(people))]

    def written(self) -> History:
        project, rng = self._project, self._rng
        count = int(rng.randint(70, 120) * BIG.get(project.identifier, 1.0) ** 0.6)
        times: list[tuple[datetime, Issue | None]] = [
            (moment, None) for moment in moments(rng, count, project.since + DAY)
        ]
        fixed = rng.sample(self._settled, min(len(self._settled), count // 3))
        times += [(one.closed, one) for one in fixed if one.closed and one.closed < LAST]
        releases = [one for one in project.versions if one.status == "closed"]
        self._first(project.since)
        for moment, issue in sorted(
            times, key=lambda pair: (pair[0], pair[1].id if pair[1] else 0)
        ):
            while releases and releases[0].due <= moment.date():
                self._release(releases.pop(0).name, moment)
            self._step(moment, issue)
        return self._made

    def _step(self, moment: datetime, issue: Issue | None) -> None:
        branch = self._branch
        if issue is not None:
            self._settle(moment, issue)
        elif branch is not None and self._rng.random() < 0.6:
            if branch.left:
                self._grow_branch(branch, moment)
            else:
                self._merge(branch, moment)
        elif branch is None and self._opened < 5 and self._rng.random() < 0.07:
            self._open_branch(moment)
        else:
            self._work(moment)

    def _commit(
        self, author: Person, when: datetime, message: str, files: dict[str, str],
        branch: str = MAIN, parents: tuple[int, ...] | None = None,
    ) -> int:  # fmt: skip
        mark = len(self._made.commits) + 1
        before = parents if parents is not None else ((self._head,) if self._head else ())
        written = tuple(sorted(files.items()))
        self._made.commits.append(Commit(mark, branch, before, author, when, message, written))
        if branch == MAIN:
            self._head = mark
        return mark

    def _someone(self) -> Person:
        return self._rng.choices(self._people, self._weights)[0]

    def _first(self, when: datetime) -> None:
        told = vocabulary("code")[self._project.code]
        files = {
            path: text.replace("@identifier@", self._project.identifier)
            for path, text in told["files"].items()
        }
        files |= {"README.md": self._readme(), "VERSION": "0.0\n"}
        held = self._module(self._project.things[0])
        for _ in range(3):
            code.added(self._rng, held)
        files[held.path] = held.text()
        self._commit(self._people[0], when, "First files", files)

    def _readme(self) -> str:
        lines = [f"# {self._project.name}", "", self._project.about]
        return "\n".join([*lines, *self._notes]) + "\n"

    def _folder(self) -> str:
        folder = FOLDERS.get(self._project.code, "src")
        return folder or self._project.identifier.replace("-", "_")

    def _module(self, thing: str) -> Module:
        if thing not in self._modules:
            project = self._project
            self._modules[thing] = code.module(project.name, thing, project.code, self._folder())
        return self._modules[thing]

    def _free(self) -> list[str]:
        """Things whose module no branch holds."""
        taken = self._branch.module.thing if self._branch else None
        return [thing for thing in self._project.things if thing != taken]

    def _work(self, moment: datetime) -> None:
        thing = self._rng.choice(self._free())
        if self._rng.random() < 0.06:
            self._note(thing, moment)
            return
        held = self._module(thing)
        subject = self._change(held)
        message = subject
        if self._rng.random() < 0.3 and (about := self._open_issue(moment)):
            message += f"\n\nrefs #{about.id}"
        self._commit(self._someone(), moment, message, {held.path: held.text()})

    def _change(self, held: Module) -> str:
        """Change something of a module; return the subject that says so."""
        rng, what = self._rng, self._rng.random()
        place = rng.randrange(len(held.functions)) if held.functions else 0
        if len(held.functions) < 2 or what < 0.35:
            made = code.added(rng, held)
            if made is not None:
                return self._say(GROW, held, made.label)
            place, what = 0, 0.5
        one = held.functions[place]
        if what > 0.93 and len(held.functions) > 4:
            held.functions.pop(place)
            return self._say(DROP, held, one.label)
        if what > 0.78 and not one.said:
            code.changed(held, place, said=True)
            return self._say(TELL, held, one.label)
        to = rng.choice([limit for limit in code.LIMITS if limit != one.limit])
        code.changed(held, place, limit=to)
        said = TURN if to > one.limit else LOWER
        return self._say(said, held, one.label, to=str(to), old=str(one.limit))

    def _say(self, said: tuple[str, ...], held: Module, function: str, **more: str) -> str:
        thing = held.thing
        slots = {"thing": thing, "Thing": thing[0].upper() + thing[1:], "function": function}
        return self._rng.choice(said).format(**slots, **more)

    def _open_issue(self, moment: datetime) -> Issue | None:
        known = [
            one
            for one in self._all
            if one.made < moment and (one.closed is None or one.closed > moment)
        ]
        return self._rng.choice(known) if known else None

    def _settle(self, moment: datetime, issue: Issue) -> None:
        free = self._free()
        held = self._module(issue.thing if issue.thing in free else free[0])
        bare = [place for place, one in enumerate(held.functions) if not one.guarded]
        if issue.tracker == "Bug" and bare:
            place = self._rng.choice(bare)
            code.changed(held, place, guarded=True)
            subject = self._say(FIX, held, held.functions[place].label)
        else:
            subject = self._change(held)
        message = f"{subject}\n\nfixes #{issue.id}"
        author = issue.assignee if issue.assignee in self._people else self._someone()
        self._commit(author or self._people[0], moment, message, {held.path: held.text()})

    def _note(self, thing: str, moment: datetime) -> None:
        title = f"## {thing[0].upper()}{thing[1:]}"
        self._notes += ["", title, "", f"Run `make try` and open the {thing}."]
        subject = self._rng.choice(NOTES).format(thing=thing)
        self._commit(self._someone(), moment, subject, {"README.md": self._readme()})

    def _release(self, name: str, moment: datetime) -> None:
        when = moment.replace(hour=7, minute=0, second=0)
        if self._made.commits[-1].when >= when:
            when = self._made.commits[-1].when.replace(second=59)
        told = [f"## {name} ({when.date()})", "", f"- {len(self._made.commits)} commits", ""]
        self._changes = [*told, *self._changes]
        whole = "\n".join(["# Changes", "", *self._changes])
        files = {"VERSION": f"{name}\n", "CHANGELOG.md": whole}
        mark = self._commit(self._people[0], when, f"Release {name}", files)
        self._made.tags.append(Tag(f"v{name}", mark, self._people[0], when))

    def _open_branch(self, moment: datetime) -> None:
        thing = self._rng.choice(self._project.things)
        held = copy.deepcopy(self._module(thing))
        self._opened += 1
        slug = held.path.rsplit("/", 1)[1].rsplit(".", 1)[0].replace("_", "-")
        kind = self._rng.choice(("feature", "fix"))
        name = f"{kind}/{slug}-{self._opened}"
        self._branch = Branch(name, self._head, held, self._rng.randint(2, 5), self._someone())
        self._grow_branch(self._branch, moment)

    def _grow_branch(self, branch: Branch, moment: datetime) -> None:
        subject = self._change(branch.module)
        author = branch.author if self._rng.random() < 0.8 else self._someone()
        files = {branch.module.path: branch.module.text()}
        branch.head = self._commit(author, moment, subject, files, branch.name, (branch.head,))
        branch.left -= 1

    def _merge(self, branch: Branch, moment: datetime) -> None:
        self._modules[branch.module.thing] = branch.module
        files = {branch.module.path: branch.module.text()}
        parents = (self._head, branch.head)
        self._commit(
            self._people[0], moment, f"Merge branch '{branch.name}'", files, parents=parents
        )
        self._branch = None
