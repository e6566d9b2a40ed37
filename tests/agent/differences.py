"""In what call trees of different Hadoops differ, and why. Everything else has to be equal."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Functions that not every version has, or has at another place (elsewhere); only: in these operations."""
    reason: str
    functions: tuple
    only: tuple = ()
    elsewhere: bool = False

    def concerns(self, operation):
        return not self.only or operation in self.only


DIFFERENCES = []
