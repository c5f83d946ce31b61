# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy that a program took, by ``dlest record``."""

import json
import os
from typing import Any, Dict, List, Optional, Union

from . import _trackers as trackers
from ._program import Document


def number(value: Any) -> Optional[float]:
    """A figure of a document; None: it is not known."""
    return None if value is None else float(value)


class _Figure:
    """An attribute that is the document's figure of that name."""

    def __init__(self, meaning: str) -> None:
        self.__doc__ = meaning

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, of: "Measurement",
                owner: Optional[type] = None) -> Optional[float]:
        return number(of.document.get(self._name))


class Measurement:
    """Energy, time and emissions of what was measured.

    Figures that no sensor gave are None, as are emissions without ``country``,
    ``intensity``, ``site`` or ``cloud``.
    """

    def __init__(self, document: Document, over_budget: bool = False) -> None:
        self._document = document
        self._over_budget = over_budget

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"]) -> "Measurement":
        """Reads the file of ``dlest record --format json --output FILE``."""
        with open(path, encoding="utf-8") as f:
            return cls(json.load(f))

    @property
    def document(self) -> Document:
        """All figures, as ``dlest record --format json`` writes them."""
        return self._document

    @property
    def over_budget(self) -> bool:
        """Whether the energy is over ``budget_kwh``."""
        return self._over_budget

    energy_j = _Figure("Energy of all parts that were measured (boundary), J.")
    energy_kwh = _Figure("The energy in kWh.")
    gpu_energy_j = _Figure("Energy of the GPUs, J.")
    cpu_energy_j = _Figure("Energy of the CPUs, J.")
    co2e_g = _Figure("Emissions, g CO2e.")
    cost = _Figure("Cost in the currency of the price.")
    duration_s = _Figure("Time, s.")
    power_w = _Figure("Mean power, W.")
    epochs = _Figure("Epochs that were marked, or found in the power.")

    @property
    def boundary(self) -> Optional[str]:
        """The parts that the energy includes: "gpu", "gpu+cpu+ram", "node"."""
        value = self.document.get("boundary")
        return None if value is None else str(value)

    @property
    def phases(self) -> List[Dict[str, Any]]:
        """Time and energy by phase."""
        return list(self.document.get("phases") or [])

    @property
    def warnings(self) -> List[str]:
        """The program's warnings."""
        return [str(w) for w in self.document.get("warnings") or []]

    @property
    def exit_status(self) -> Optional[int]:
        """Exit status of the program that ``record`` ran."""
        value = self.document.get("exit_status")
        return None if value is None else int(value)

    def metrics(self, prefix: str = "dlest/") -> Dict[str, float]:
        """The known figures by name, for logs of experiments."""
        names = ("energy_j", "energy_kwh", "gpu_energy_j", "cpu_energy_j",
                 "ram_energy_j", "node_energy_j", "co2e_g", "cost", "duration_s",
                 "power_w", "gpu_util", "epoch_energy_j", "epoch_s")
        found = {prefix + n: number(self.document.get(n)) for n in names}
        for phase in self.phases:
            found["%sphase/%s/energy_j" % (prefix, phase["phase"])] = \
                number(phase.get("energy_j"))
        return {name: value for name, value in found.items()
                if value is not None}

    def log_to(self, tracker: str, step: Optional[int] = None) -> None:
        """Writes the figures to the active run of "mlflow" or "trackio"."""
        trackers.find(tracker)(self.metrics(), step)

    def __repr__(self) -> str:
        if self.energy_j is None:
            return "<Measurement: nothing was measured>"
        text = "%.6g J (%s) in %.6g s" % (self.energy_j, self.boundary,
                                          self.duration_s or 0)
        if self.co2e_g is not None:
            text += ", %.6g g CO2e" % self.co2e_g
        return "<Measurement: %s>" % text
