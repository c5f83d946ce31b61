# SPDX-License-Identifier: GPL-3.0-or-later
# --- scripts that make data/ and models/

EXTRA_DIST += \
	%D%/accelerators-from-csv.py \
	%D%/architecture_attention.py \
	%D%/architecture_depthwise.py \
	%D%/architecture_elementwise.py \
	%D%/architecture_kept.py \
	%D%/architecture_families.py \
	%D%/architecture_layers.py \
	%D%/architecture_shapes.py \
	%D%/architecture_small.py \
	%D%/architecture_traffic.py \
	%D%/architecture_work.py \
	%D%/architectures-from-layers.py \
	%D%/architectures-from-timm.py \
	%D%/architectures-from-torchvision.py \
	%D%/architectures-torchvision.csv \
	%D%/architectures.list \
	%D%/character-widths.py \
	%D%/check-catalog.py \
	%D%/export-networks.py \
	%D%/grids-from-csv.py \
	%D%/language-means.py \
	%D%/make-models.sh \
	%D%/cpu-means.py \
	%D%/cpu-power.py \
	%D%/cpus-all-core.list \
	%D%/cpus.list \
	%D%/cpus.py \
	%D%/mlenergy-means.py \
	%D%/node-power.py \
	%D%/tuned-means.py \
	%D%/operator-shapes.py \
	%D%/sites-from-csv.py \
	%D%/step-cuts.py \
	%D%/task_encoders.py \
	%D%/task_graph.py \
	%D%/task_layers.py \
	%D%/task_pipeline.py \
	%D%/task_sequence.py \
	%D%/task_vision.py \
	%D%/task_yolo.py \
	%D%/throughput-means.py \
	%D%/training-means.py

# The models, from measured runs (make-models.sh describes them).
models: dlest
	DLEST_DATADIR='$(abs_top_srcdir)' $(SHELL) \
	  $(srcdir)/%D%/make-models.sh ./dlest \
	  "$${MEASURED_RUNS:-$(MEASURED_RUNS)}" '$(abs_top_srcdir)'

# The architectures, from the tables of results in $(SOURCES)/timm.
catalog:
	@test -d '$(SOURCES)/timm' || { \
	  echo 'say where the tables are: make catalog SOURCES=DIR' >&2; exit 1; }
	python3 $(srcdir)/%D%/architectures-from-timm.py '$(SOURCES)' \
	  >catalog.new
	mv catalog.new $(srcdir)/data/architectures.xml
	python3 -B $(srcdir)/%D%/architectures-from-layers.py >catalog.new
	mv catalog.new $(srcdir)/data/task-networks.xml

.PHONY: models catalog
