# SPDX-License-Identifier: GPL-3.0-or-later
# --- pages for users, and the laboratory (lab) with its scripts (lab/make)

# Pages link to each other and to their figures: they are installed as they lie here.
nobase_dist_doc_DATA = \
	README.md \
	%D%/accuracy.md \
	%D%/data.md \
	%D%/fit.md \
	%D%/index.md \
	%D%/inference.md \
	%D%/json.md \
	%D%/language-models.md \
	%D%/nodes.md \
	%D%/predict.md \
	%D%/recommend.md \
	%D%/recording.md \
	%D%/step.md \
	%D%/figures/errors.svg \
	%D%/figures/gpus.svg \
	%D%/figures/nodes.svg \
	%D%/figures/p4-energy.svg \
	%D%/figures/p4-power.svg \
	%D%/figures/page.png \
	%D%/figures/parts.svg \
	%D%/figures/trace.svg \
	%D%/lab/calibration.md \
	%D%/lab/cpus.md \
	%D%/lab/designs.md \
	%D%/lab/epochs.md \
	%D%/lab/estimation.md \
	%D%/lab/findings.md \
	%D%/lab/generalisation.md \
	%D%/lab/inference.md \
	%D%/lab/input.md \
	%D%/lab/known-times.md \
	%D%/lab/language-models.md \
	%D%/lab/networks.md \
	%D%/lab/nodes.md \
	%D%/lab/published-serving.md \
	%D%/lab/published-speeds.md \
	%D%/lab/robustness.md \
	%D%/lab/step-traces.md \
	%D%/lab/step.md

EXTRA_DIST += \
	data/cpu-power.csv \
	data/node-power.csv \
	data/node-trainings.csv \
	data/published-serving.csv \
	data/published-speeds.csv \
	%D%/lab/make/calibration.py \
	%D%/lab/make/calibration_runs.py \
	%D%/lab/make/calibration_speeds.py \
	%D%/lab/make/cpu_nodes.py \
	%D%/lab/make/cpu_power.py \
	%D%/lab/make/generalisation.py \
	%D%/lab/make/generalisation_intervals.py \
	%D%/lab/make/generalisation_language.py \
	%D%/lab/make/generalisation_sources.py \
	%D%/lab/make/generalisation_speeds.py \
	%D%/lab/make/generalisation_tables.py \
	%D%/lab/make/generalisation_unseen.py \
	%D%/lab/make/known_times.py \
	%D%/lab/make/memory_fits.py \
	%D%/lab/make/make-figures.sh \
	%D%/lab/make/node_power.py \
	%D%/lab/make/published_serving.py \
	%D%/lab/make/published_speeds.py \
	%D%/lab/make/reality.py \
	%D%/lab/make/training_power.py

# The figures of README and docs, with gnuplot.
figures: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' $(SHELL) \
	  $(srcdir)/%D%/lab/make/make-figures.sh ./dlest$(EXEEXT) \
	  "$${MEASURED_RUNS:-$(MEASURED_RUNS)}" '$(abs_top_srcdir)'

# Errors for runs that the fit has not seen.
generalisation: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/generalisation.py ./dlest$(EXEEXT) \
	  "$${MEASURED_RUNS:-$(MEASURED_RUNS)}" \
	  --write '$(abs_top_srcdir)/docs/lab/generalisation.md'

# Errors after calibration with runs of your own.
calibration: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/calibration.py ./dlest$(EXEEXT) \
	  "$${MEASURED_RUNS:-$(MEASURED_RUNS)}" \
	  --write '$(abs_top_srcdir)/docs/lab/calibration.md'

# Errors with known times.
known-times: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/known_times.py ./dlest$(EXEEXT) \
	  "$${MEASURED_RUNS:-$(MEASURED_RUNS)}" \
	  --write '$(abs_top_srcdir)/docs/lab/known-times.md'

# Powers of language models, each source left out.
training-power: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/training_power.py ./dlest$(EXEEXT) \
	  "$${MEASURED_RUNS:-$(MEASURED_RUNS)}" \
	  --write '$(abs_top_srcdir)/docs/lab/language-models.md'

# Speeds of trainings that others published.
published-speeds: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/published_speeds.py ./dlest$(EXEEXT) \
	  --write '$(abs_top_srcdir)/docs/lab/published-speeds.md'

# Speeds of serving that others published.
published-serving: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/published_serving.py ./dlest$(EXEEXT) \
	  --write '$(abs_top_srcdir)/docs/lab/published-serving.md'

# Power of nodes.
node-power: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/node_power.py ./dlest$(EXEEXT) \
	  --write '$(abs_top_srcdir)/docs/lab/nodes.md'

# Power of computers without accelerators, and their energies beside GPUs'.
cpu-power: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/cpu_nodes.py ./dlest$(EXEEXT) \
	  --write '$(abs_top_srcdir)/docs/nodes.md'
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/cpu_power.py ./dlest$(EXEEXT) \
	  --write '$(abs_top_srcdir)/docs/lab/cpus.md'

# Energies, times, powers and memory that others measured, with their commands.
reality: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/reality.py ./dlest$(EXEEXT) \
	  "$${MEASURED_RUNS:-$(MEASURED_RUNS)}" \
	  --write '$(abs_top_srcdir)/docs/accuracy.md'

# Trainings that fit the memory of a GPU, and peaks that were measured.
memory: dlest$(EXEEXT)
	DLEST_DATADIR='$(abs_top_srcdir)' python3 -B \
	  $(srcdir)/%D%/lab/make/memory_fits.py ./dlest$(EXEEXT) \
	  "$${MEASURED_RUNS:-$(MEASURED_RUNS)}" \
	  --write '$(abs_top_srcdir)/docs/accuracy.md'

.PHONY: figures generalisation calibration known-times memory node-power cpu-power \
	published-speeds published-serving reality training-power
