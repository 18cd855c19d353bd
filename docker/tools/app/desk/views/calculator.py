"""The calculator: an expression in, its value out; nothing is kept."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from desk.expressions import Angle, calculate
from desk.functions import FUNCTIONS, CalculationError

# What stands on the keys, row by row: what is shown, what it types, what it is called.
KEYS = (
    (("(", "(", "open bracket"), (")", ")", "close bracket"), ("xʸ", "^", "to the power of"),
     ("√", "sqrt(", "square root")),
    (("7", "7", ""), ("8", "8", ""), ("9", "9", ""), ("÷", " / ", "divide")),
    (("4", "4", ""), ("5", "5", ""), ("6", "6", ""), ("×", " * ", "multiply")),
    (("1", "1", ""), ("2", "2", ""), ("3", "3", ""), ("−", " - ", "subtract")),
    (("0", "0", ""), (".", ".", "decimal point"), ("%", "%", "percent"), ("+", " + ", "add")),
)  # fmt: skip


def page(request: HttpRequest) -> HttpResponse:
    """Show the calculator, with the value of `?expression=` where one is given."""
    expression, angle = _asked(request)
    value, problem = _answer(expression, angle) if expression else ("", "")
    shown = {
        "expression": expression,
        "angle": angle,
        "angles": list(Angle),
        "value": value,
        "problem": problem,
        "keys": KEYS,
        "functions": sorted(FUNCTIONS),
    }
    return render(request, "calculator.html", shown)


def value(request: HttpRequest) -> JsonResponse:
    """Answer `{"value"}`, or `{"problem"}` with status 400."""
    found, problem = _answer(*_asked(request))
    return (
        JsonResponse({"problem": problem}, status=400)
        if problem
        else JsonResponse({"value": found})
    )


def _asked(request: HttpRequest) -> tuple[str, Angle]:
    angle = request.GET.get("angle", "")
    return (
        request.GET.get("expression", "").strip(),
        Angle(angle) if angle in list(Angle) else Angle.DEGREES,
    )


def _answer(expression: str, angle: Angle) -> tuple[str, str]:
    try:
        return calculate(expression, angle), ""
    except CalculationError as problem:
        return "", str(problem)
