"""What DART's contacts share: settings of a class that dartpy leaves out, called in the library that it has loaded."""

import ctypes

import dartpy as dart

LIBRARY = ctypes.CDLL(dart.__file__)
# Setting, and the name in C++ of what holds it for all contacts of the process.
SHARED = {
    "erp": "ErrorReductionParameter",
    "erv_m_s": "MaxErrorReductionVelocity",
    "cfm": "ConstraintForceMixing",
}


def function(verb: str, name: str, arguments: str):
    """A static function of ContactConstraint by its name for the linker."""
    word = verb + name
    return LIBRARY[f"_ZN4dart10constraint17ContactConstraint{len(word)}{word}E{arguments}"]


def setter(name: str):
    found = function("set", name, "d")
    found.argtypes, found.restype = [ctypes.c_double], None
    return found


def getter(name: str):
    found = function("get", name, "v")
    found.argtypes, found.restype = [], ctypes.c_double
    return found


SETTERS = {key: setter(name) for key, name in SHARED.items()}
GETTERS = {key: getter(name) for key, name in SHARED.items()}


def share(settings: dict):
    """Sets what all contacts of this process share."""
    for key, put in SETTERS.items():
        put(settings[key])


def shared() -> dict[str, float]:
    """What they share now."""
    return {key: get() for key, get in GETTERS.items()}
