# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy of deep learning: estimated before a run, measured during it.

    import dlest

    dlest.predict("llama-3-8b", "8 x h100", "1T tokens")["estimates"]
    dlest.recommend(arch="resnet50", gpu=["a100", "h100"])["choices"]
    dlest.extract("gpu-7.csv")["runs"]

    with dlest.measure(country="FR") as meter:      # a block
        train()
    print(meter.energy_j, meter.co2e_g)

    @dlest.measure(country="FR", report=print)      # each call of a function
    def train(): ...

    dlest.record(["python3", "train.py"]).energy_j  # a program

    trainer.add_callback(dlest.transformers_callback(country="FR"))
    Trainer(callbacks=[dlest.lightning_callback(log_to="mlflow")])
    model.fit(..., callbacks=[dlest.keras_callback()])

    for number in dlest.epochs(90):         # marks the end of each
        train_one_epoch()
        with dlest.phase("validation"):     # its time and energy apart
            validate()
    dlest.epoch()                           # by hand: one more epoch is over
    dlest.samples(len(dataset))             # training samples per epoch

Options have the names of the commands, with ``_`` for ``-``; documents are what
``--format json`` prints. Errors of the program are raised as ``dlest.Error``. Epochs
count from 0; where nobody records, marks do nothing. Of several processes on a
node (torchrun, srun) the one of local rank 0 measures and marks. Frameworks and
trackers are imported when they are asked for.
"""

from ._callbacks import (keras_callback, lightning_callback,
                        transformers_callback)
from ._marks import epoch, epochs, measure_epoch, phase, samples
from ._measure import Meter, measure, record
from ._measurement import Measurement
from ._program import (Error, OverBudget, extract, predict, program, recommend)

__version__ = "1.0.0"

__all__ = ["Error", "Measurement", "Meter", "OverBudget", "epoch", "epochs",
           "extract", "keras_callback", "lightning_callback", "measure",
           "measure_epoch", "phase", "predict", "program", "recommend", "record",
           "samples", "transformers_callback"]
