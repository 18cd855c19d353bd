"""What members may send, with Postmill's field names and labels."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from django import forms
from django.contrib.auth.hashers import check_password
from django.core.exceptions import ValidationError
from django.forms import Textarea

from waypost import paths, pictures
from waypost.models import Forum, Member

BODY_LENGTH = 25_000
COMMENT_LENGTH = 10_000
REQUIRED = {"required": "This field is required."}


class NamedForm(forms.Form):
    """A form whose inputs are called `form[field]`, with the ids `form_field`."""

    def add_prefix(self, field_name: str) -> str:
        """Return the input's name."""
        return f"{self.prefix}[{field_name}]"

    def input_id(self, field_name: str) -> str:
        """Return the input's id."""
        return f"{self.prefix}_{field_name}"


def _text(label: str, length: int, *, needed: bool = True, help_text: str = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=length,
        required=needed,
        help_text=help_text,
        error_messages=REQUIRED,
    )


def _area(label: str, length: int, *, needed: bool = True, help_text: str = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=length,
        required=needed,
        widget=Textarea,
        help_text=help_text or "Markdown allowed.",
        error_messages=REQUIRED,
    )


def _name(value: str, taken: str) -> str:
    if not re.fullmatch(paths.NAME, value, re.ASCII):
        message = "The name must contain only letters, numbers, and underscores (3 to 25)."
        raise ValidationError(message)
    if taken:
        raise ValidationError(taken)
    return value


class SubmissionForm(NamedForm):
    """A submission to be, or its new text."""

    url = _text("URL", 2000, needed=False)
    image = forms.FileField(
        label="Image",
        required=False,
        help_text="PNG, JPEG, GIF or WebP, up to 4 MB.",
    )
    image_alt = _text(
        "Image description",
        300,
        needed=False,
        help_text="For those who cannot see the image.",
    )
    title = _text("Title", 300)
    body = _area("Body", BODY_LENGTH, needed=False)
    forum = forms.CharField(label="Forum", error_messages=REQUIRED)

    def clean_url(self) -> str:
        """Accept web addresses only."""
        url = str(self.cleaned_data["url"])
        if url:
            try:
                parts = urlsplit(url)
                is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
            except ValueError:
                is_web = False
            if not is_web or re.search(r"\s", url):
                message = "This is not a valid URL: it begins with http:// or https://."
                raise ValidationError(message)
        return url

    def clean_image(self) -> tuple[str, bytes] | None:
        """Accept pictures only; return the file's name and what it holds."""
        sent = self.cleaned_data["image"]
        if not sent:
            return None
        if sent.size > pictures.MOST_BYTES:
            message = "The image is larger than 4 MB."
            raise ValidationError(message)
        content = sent.read()
        name = pictures.name_of(content)
        if name is None:
            message = "This is not an image: PNG, JPEG, GIF and WebP are known."
            raise ValidationError(message)
        return name, content

    def clean(self) -> dict[str, object]:
        """Let a title lead to one place only."""
        if self.cleaned_data.get("url") and self.cleaned_data.get("image"):
            self.add_error("image", "A submission has a URL or an image, not both.")
        return self.cleaned_data

    def clean_forum(self) -> Forum:
        """Find the forum by its name."""
        forum = Forum.objects.filter(name=self.cleaned_data["forum"]).first()
        if forum is None:
            message = "There is no forum by that name."
            raise ValidationError(message)
        return forum


class CommentForm(NamedForm):
    """A comment."""

    comment = _area("Comment", COMMENT_LENGTH)


class ForumForm(NamedForm):
    """A forum's texts. `forum` is the one that is edited, None for a new one."""

    name = _text("Name", 25, help_text="Will appear in the URL.")
    title = _text("Title", 100)
    description = _text(
        "Description",
        300,
        help_text="A short description of the forum. Search engines will present this "
        "description in their results.",
    )
    sidebar = _area("Sidebar", 5000)
    tags = _text("Tags", 200, needed=False, help_text="Separated by commas.")

    def __init__(self, *args: object, forum: Forum | None = None, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._forum = forum

    def clean_name(self) -> str:
        """Accept a name that no other forum has."""
        name = self.cleaned_data["name"]
        others = Forum.objects.filter(name=name).exclude(id=self._forum.id if self._forum else 0)
        return _name(name, "A forum by that name already exists." if others.exists() else "")

    def clean_tags(self) -> str:
        """Keep words of letters, digits and underscores."""
        tags = [tag.strip().lower() for tag in self.cleaned_data["tags"].split(",") if tag.strip()]
        if not all(re.fullmatch(r"\w{2,40}", tag) for tag in tags):
            message = "Tags may hold letters, numbers and underscores only."
            raise ValidationError(message)
        return ", ".join(dict.fromkeys(tags))


class RegistrationForm(NamedForm):
    """A new account."""

    username = _text(
        "Username", 25, help_text="Allowed characters are A-Z, a-z, 0-9 and underscore."
    )
    password = forms.CharField(
        label="Password",
        min_length=8,
        max_length=72,
        widget=forms.PasswordInput,
        help_text="Minimum of 8 characters.",
        error_messages=REQUIRED,
    )
    repeat = forms.CharField(
        label="Password (repeat)", widget=forms.PasswordInput, error_messages=REQUIRED
    )

    def clean_username(self) -> str:
        """Accept a name that nobody has."""
        name = self.cleaned_data["username"]
        is_taken = Member.objects.filter(username=name).exists()
        return _name(name, "That username is taken." if is_taken else "")

    def clean(self) -> dict[str, object]:
        """Compare the two passwords."""
        if self.cleaned_data.get("password") != self.cleaned_data.get("repeat"):
            self.add_error("repeat", "The passwords do not match.")
        return self.cleaned_data


class AccountForm(NamedForm):
    """A new password."""

    current = forms.CharField(
        label="Current password", widget=forms.PasswordInput, error_messages=REQUIRED
    )
    password = forms.CharField(
        label="New password",
        min_length=8,
        max_length=72,
        widget=forms.PasswordInput,
        help_text="Minimum of 8 characters.",
        error_messages=REQUIRED,
    )
    repeat = forms.CharField(
        label="New password (repeat)", widget=forms.PasswordInput, error_messages=REQUIRED
    )

    def __init__(self, *args: object, member: Member, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._member = member

    def clean_current(self) -> str:
        """Ask for the password that holds."""
        current = str(self.cleaned_data["current"])
        if not check_password(current, self._member.password):
            message = "That is not your current password."
            raise ValidationError(message)
        return current

    def clean(self) -> dict[str, object]:
        """Compare the two passwords."""
        if self.cleaned_data.get("password") != self.cleaned_data.get("repeat"):
            self.add_error("repeat", "The passwords do not match.")
        return self.cleaned_data


class BiographyForm(NamedForm):
    """What a member says of themselves."""

    biography = _area("Biography", 5000, needed=False)


class MessageForm(NamedForm):
    """The first message of a conversation."""

    title = _text("Title", 100)
    body = _area("Message", BODY_LENGTH)


class ReplyForm(NamedForm):
    """A further message."""

    body = _area("Message", BODY_LENGTH)


class ReasonForm(NamedForm):
    """Why a moderator removes something."""

    reason = _text("Reason", 300)


class BanForm(NamedForm):
    """Why, and for how long, somebody may not write in a forum."""

    reason = _text("Reason", 300)
    days = forms.IntegerField(
        label="Days",
        required=False,
        min_value=1,
        max_value=3650,
        help_text="Leave empty for a ban without an end.",
    )


class MemberNameForm(NamedForm):
    """Names a member."""

    username = _text("Username", 25)

    def clean_username(self) -> Member:
        """Find the member by name."""
        member = Member.objects.filter(username=self.cleaned_data["username"]).first()
        if member is None:
            message = "There is no user by that name."
            raise ValidationError(message)
        return member


class BlockForm(NamedForm):
    """A note to oneself about whom one blocks."""

    comment = _text("Comment", 300, needed=False, help_text="Only you can see this.")
