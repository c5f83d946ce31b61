# SPDX-License-Identifier: GPL-3.0-or-later
# --- tests: cmocka units, tables and bats for the command line, lint; all print
# --- TAP

UNIT_TESTS = \
	tests/unit/test_arrays \
	tests/unit/test_bootstrap \
	tests/unit/test_calibration \
	tests/unit/test_catalog \
	tests/unit/test_csv \
	tests/unit/test_csv_empty \
	tests/unit/test_csv_headers \
	tests/unit/test_energy_curve \
	tests/unit/test_cycles \
	tests/unit/test_cycles_late \
	tests/unit/test_descriptor \
	tests/unit/test_diag \
	tests/unit/test_estimators \
	tests/unit/test_reading_sequencer \
	tests/unit/test_exports \
	tests/unit/test_file \
	tests/unit/test_fluss \
	tests/unit/test_folds \
	tests/unit/test_formula \
	tests/unit/test_frame \
	tests/unit/test_import_carbontracker \
	tests/unit/test_import_gpu \
	tests/unit/test_import_gpu_probe \
	tests/unit/test_import_runs \
	tests/unit/test_import_slurm \
	tests/unit/test_import_smi \
	tests/unit/test_import_system \
	tests/unit/test_input_pipeline \
	tests/unit/test_interval \
	tests/unit/test_run_spread \
	tests/unit/test_simulated_coverage \
	tests/unit/test_memory_join \
	tests/unit/test_krr \
	tests/unit/test_krr_kernel \
	tests/unit/test_language_inputs \
	tests/unit/test_lines \
	tests/unit/test_memory \
	tests/unit/test_expert_parallel \
	tests/unit/test_seen_jobs \
	tests/unit/test_power_meter \
	tests/unit/test_reading \
	tests/unit/test_gpu_clock \
	tests/unit/test_metrics \
	tests/unit/test_model_file \
	tests/unit/test_names \
	tests/unit/test_node \
	tests/unit/test_number \
	tests/unit/test_ols \
	tests/unit/test_parallel \
	tests/unit/test_pareto \
	tests/unit/test_physical \
	tests/unit/test_physical_fit \
	tests/unit/test_physical_solver \
	tests/unit/test_log_grouping \
	tests/unit/test_plot \
	tests/unit/test_plot_kinds \
	tests/unit/test_predictor \
	tests/unit/test_process_tree \
	tests/unit/test_projection \
	tests/unit/test_projection_interval \
	tests/unit/test_render \
	tests/unit/test_report \
	tests/unit/test_ridge \
	tests/unit/test_row \
	tests/unit/test_rules \
	tests/unit/test_run \
	tests/unit/test_scale \
	tests/unit/test_scaling \
	tests/unit/test_select \
	tests/unit/test_language \
	tests/unit/test_serving \
	tests/unit/test_cpu \
	tests/unit/test_settings \
	tests/unit/test_sort \
	tests/unit/test_gpu_names \
	tests/unit/test_group_totals \
	tests/unit/test_text \
	tests/unit/test_tuned \
	tests/unit/test_text_format \
	tests/unit/test_timestamp \
	tests/unit/test_training \
	tests/unit/test_training_setup \
	tests/unit/test_transformer \
	tests/unit/test_validate \
	tests/unit/test_waiting \
	tests/unit/test_work \
	tests/unit/test_xml
if HAVE_ONNX
UNIT_TESTS += \
	tests/unit/test_onnx \
	tests/unit/test_onnx_faults \
	tests/unit/test_onnx_shapes \
	tests/unit/test_onnx_work
endif
# Those that take longest come first, so that none runs alone at the end.
CLI_TESTS = \
	tests/cli/general/options.bats \
	tests/cli/fit/fit.bats \
	tests/cli/fit/calibrate.bats \
	tests/cli/fit/calibrate-suggest.bats \
	tests/cli/catalog/describe-published.bats \
	tests/cli/fit/coverage.bats \
	tests/cli/fit/generalisation.bats \
	tests/cli/logs/extract.bats \
	tests/cli/catalog/accelerators.bats \
	tests/cli/catalog/check.bats \
	tests/cli/catalog/check-table.test \
	tests/cli/catalog/describe.bats \
	tests/cli/catalog/list.bats \
	tests/cli/catalog/list-table.test \
	tests/cli/catalog/scaling-published.bats \
	tests/cli/catalog/show.bats \
	tests/cli/catalog/show-table.test \
	tests/cli/catalog/task-networks.bats \
	tests/cli/catalog/task-networks-table.test \
	tests/cli/catalog/user-catalogs.bats \
	tests/cli/fit/calibrate-intervals.bats \
	tests/cli/fit/calibrate-intervals-table.test \
	tests/cli/fit/calibrate-language.bats \
	tests/cli/fit/calibrate-language-table.test \
	tests/cli/fit/calibrate-suggest-table.test \
	tests/cli/fit/compare.bats \
	tests/cli/fit/compare-table.test \
	tests/cli/fit/fit-table.test \
	tests/cli/fit/means.bats \
	tests/cli/fit/physical.bats \
	tests/cli/fit/reproduce.bats \
	tests/cli/general/agents.bats \
	tests/cli/general/budget-action.bats \
	tests/cli/general/completion.bats \
	tests/cli/general/examples.bats \
	tests/cli/general/locales.bats \
	tests/cli/general/measure.bats \
	tests/cli/general/manners.bats \
	tests/cli/general/manners-table.test \
	tests/cli/general/manual.bats \
	tests/cli/general/options-table.test \
	tests/cli/general/system.bats \
	tests/cli/general/python.bats \
	tests/cli/install/installed.bats \
	tests/cli/install/version.bats \
	tests/cli/language/language-published.bats \
	tests/cli/language/model-configs.bats \
	tests/cli/language/model-types.bats \
	tests/cli/language/setups.bats \
	tests/cli/language/training-setup.bats \
	tests/cli/language/training-setup-table.test \
	tests/cli/language/transformers.bats \
	tests/cli/language/transformers-table.test \
	tests/cli/logs/extract-logs.bats \
	tests/cli/logs/extract-nodes.bats \
	tests/cli/logs/extract-published.bats \
	tests/cli/logs/extract-table.test \
	tests/cli/logs/integration.bats \
	tests/cli/logs/log-counters.bats \
	tests/cli/logs/log-devices.bats \
	tests/cli/logs/log-doubts.bats \
	tests/cli/logs/log-doubts-table.test \
	tests/cli/logs/log-forms.bats \
	tests/cli/logs/log-hardening.bats \
	tests/cli/logs/log-mutations.bats \
	tests/cli/logs/log-parts.bats \
	tests/cli/logs/log-parts-table.test \
	tests/cli/logs/log-reasons.bats \
	tests/cli/logs/run-overlaps.bats \
	tests/cli/node/nodes-published.bats \
	tests/cli/node/nodes.bats \
	tests/cli/node/nodes-table.test \
	tests/cli/node/sites.bats \
	tests/cli/node/sites-table.test \
	tests/cli/output/exports.bats \
	tests/cli/output/exports-table.test \
	tests/cli/output/first-screens.bats \
	tests/cli/output/format-identities.bats \
	tests/cli/output/formats.bats \
	tests/cli/output/html.bats \
	tests/cli/output/identities.bats \
	tests/cli/output/latex.bats \
	tests/cli/output/plot.bats \
	tests/cli/output/plot-table.test \
	tests/cli/output/predict-screen.bats \
	tests/cli/output/predict-screen-table.test \
	tests/cli/output/progress.bats \
	tests/cli/output/schemas.bats \
	tests/cli/output/schemas-table.test \
	tests/cli/output/statements.test \
	tests/cli/output/terminal.bats \
	tests/cli/predict/input.bats \
	tests/cli/predict/input-table.test \
	tests/cli/predict/known-work.bats \
	tests/cli/predict/known-work-table.test \
	tests/cli/predict/known.bats \
	tests/cli/predict/known-table.test \
	tests/cli/predict/last-batch.bats \
	tests/cli/predict/last-batch-table.test \
	tests/cli/predict/limits.bats \
	tests/cli/predict/limits-table.test \
	tests/cli/predict/memory-fits.bats \
	tests/cli/predict/memory-published.bats \
	tests/cli/predict/metamorphic.bats \
	tests/cli/predict/pasted-files.test \
	tests/cli/predict/pasted-lines.test \
	tests/cli/predict/pasted-amounts.test \
	tests/cli/predict/pasted-words.test \
	tests/cli/predict/predict.bats \
	tests/cli/predict/image-adapters.test \
	tests/cli/predict/predict-table.test \
	tests/cli/predict/refusals.bats \
	tests/cli/predict/refusals-table.test \
	tests/cli/predict/name-searches.bats \
	tests/cli/predict/relations.bats \
	tests/cli/predict/settings.bats \
	tests/cli/predict/relations-table.test \
	tests/cli/predict/reality.bats \
	tests/cli/predict/training-power.bats \
	tests/cli/predict/speeds-published.bats \
	tests/cli/recommend/recommend-nodes.bats \
	tests/cli/recommend/recommend-nodes-table.test \
	tests/cli/recommend/recommend-published.bats \
	tests/cli/recommend/recommend.bats \
	tests/cli/recommend/recommend-by.test \
	tests/cli/recommend/recommend-table.test \
	tests/cli/record/python.bats \
	tests/cli/record/record-files.bats \
	tests/cli/record/record-hours.bats \
	tests/cli/record/record-jobs.bats \
	tests/cli/record/record-sensors.bats \
	tests/cli/record/record-serve.bats \
	tests/cli/record/record.bats \
	tests/cli/report/epilog.bats \
	tests/cli/report/intensity-hours.bats \
	tests/cli/report/job-shares.bats \
	tests/cli/report/job-states.bats \
	tests/cli/report/job-states-table.test \
	tests/cli/report/report.bats \
	tests/cli/report/report-table.test \
	tests/cli/report/shard.bats \
	tests/cli/report/totals.bats \
	tests/cli/rows/bad-input.bats \
	tests/cli/rows/bad-input-table.test \
	tests/cli/rows/rows-options.bats \
	tests/cli/rows/rows-options-table.test \
	tests/cli/rows/sweep.bats \
	tests/cli/rows/sweep-table.test \
	tests/cli/rows/table-values.bats \
	tests/cli/rows/table-values-table.test \
	tests/cli/serving/inference.bats \
	tests/cli/serving/cpu-tokens.bats \
	tests/cli/serving/cpus.bats \
	tests/cli/serving/engines.test \
	tests/cli/serving/inference-table.test \
	tests/cli/serving/requests.bats \
	tests/cli/serving/plain.test \
	tests/cli/serving/replicas.test \
	tests/cli/serving/requests-table.test \
	tests/cli/serving/serving-published.bats \
	tests/cli/serving/tuned.bats \
	tests/cli/step/step-logs.bats \
	tests/cli/step/step-published.bats \
	tests/cli/step/step.bats \
	tests/cli/step/step-table.test
LINT_TESTS = \
	tests/lint/debian.sh \
	tests/lint/descriptors.sh \
	tests/lint/docs.sh \
	tests/lint/executables.sh \
	tests/lint/layers.sh \
	tests/lint/messages.sh \
	tests/lint/names.sh \
	tests/lint/packaging.sh \
	tests/lint/portable.sh \
	tests/lint/prose.sh \
	tests/lint/sizes.sh \
	$(EMPTY)

TESTS = $(LINT_TESTS)
check_PROGRAMS =
if HAVE_CMOCKA
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
endif
if HAVE_BATS
check_PROGRAMS += tests/count-searches
TESTS += $(CLI_TESTS)
endif

# The program, with searches by name counted.
tests_count_searches_SOURCES = tests/count-searches.c
tests_count_searches_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=dl_run_member_find,--wrap=dl_run_column_find,--wrap=dl_field_of
tests_count_searches_LDADD = $(dlest_OBJECTS) $(LDADD)
tests_count_searches_DEPENDENCIES = $(dlest_OBJECTS) libdlest.a

# Texts of messages for unit tests, from the table that the tests of the
# command line read.
BUILT_SOURCES += tests/messages.h
tests/messages.h: tests/messages tests/messages.awk
	$(AM_V_GEN)$(MKDIR_P) tests && \
	  $(AWK) -f $(srcdir)/tests/messages.awk $(srcdir)/tests/messages >$@.new && \
	  mv $@.new $@

tests_unit_test_arrays_SOURCES = tests/unit/test_arrays.c
tests_unit_test_arrays_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_bootstrap_SOURCES = tests/unit/test_bootstrap.c \
	tests/unit/problem.h
tests_unit_test_bootstrap_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_gpu_names_SOURCES = tests/unit/test_gpu_names.c \
	tests/unit/unit.h
tests_unit_test_gpu_names_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_calibration_SOURCES = tests/unit/test_calibration.c \
	tests/unit/problem.h
tests_unit_test_calibration_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_catalog_SOURCES = tests/unit/test_catalog.c tests/unit/unit.h
tests_unit_test_catalog_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_csv_SOURCES = tests/unit/test_csv.c
tests_unit_test_csv_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_csv_empty_SOURCES = tests/unit/test_csv_empty.c
tests_unit_test_csv_empty_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_csv_headers_SOURCES = tests/unit/test_csv_headers.c
tests_unit_test_csv_headers_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_energy_curve_SOURCES = tests/unit/test_energy_curve.c
tests_unit_test_energy_curve_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_cycles_SOURCES = tests/unit/test_cycles.c
tests_unit_test_cycles_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_cycles_late_SOURCES = tests/unit/test_cycles_late.c
tests_unit_test_cycles_late_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_descriptor_SOURCES = tests/unit/test_descriptor.c \
	tests/unit/unit.h
tests_unit_test_descriptor_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_diag_SOURCES = tests/unit/test_diag.c tests/unit/unit.h
tests_unit_test_diag_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_estimators_SOURCES = tests/unit/test_estimators.c \
	tests/unit/unit.h \
	tests/unit/table.h
tests_unit_test_estimators_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_reading_sequencer_SOURCES = tests/unit/test_reading_sequencer.c
tests_unit_test_reading_sequencer_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_exports_SOURCES = tests/unit/test_exports.c tests/unit/unit.h
tests_unit_test_exports_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_file_SOURCES = tests/unit/test_file.c tests/unit/unit.h
tests_unit_test_file_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_fluss_SOURCES = tests/unit/test_fluss.c
tests_unit_test_fluss_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_folds_SOURCES = tests/unit/test_folds.c
tests_unit_test_folds_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_formula_SOURCES = tests/unit/test_formula.c tests/unit/unit.h
tests_unit_test_formula_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_frame_SOURCES = tests/unit/test_frame.c \
	tests/unit/unit.h \
	tests/unit/table.h
tests_unit_test_frame_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_import_carbontracker_SOURCES = tests/unit/test_import_carbontracker.c
tests_unit_test_import_carbontracker_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_import_gpu_SOURCES = tests/unit/test_import_gpu.c
tests_unit_test_import_gpu_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_import_gpu_probe_SOURCES = tests/unit/test_import_gpu_probe.c
tests_unit_test_import_gpu_probe_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_import_runs_SOURCES = tests/unit/test_import_runs.c
tests_unit_test_import_runs_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_import_slurm_SOURCES = tests/unit/test_import_slurm.c
tests_unit_test_import_slurm_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_import_smi_SOURCES = tests/unit/test_import_smi.c
tests_unit_test_import_smi_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_import_system_SOURCES = tests/unit/test_import_system.c
tests_unit_test_import_system_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_run_spread_SOURCES = tests/unit/test_run_spread.c \
	tests/unit/unit.h
tests_unit_test_run_spread_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_interval_SOURCES = tests/unit/test_interval.c tests/unit/unit.h
tests_unit_test_interval_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_memory_join_SOURCES = tests/unit/test_memory_join.c
tests_unit_test_memory_join_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_krr_SOURCES = tests/unit/test_krr.c
tests_unit_test_krr_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_krr_kernel_SOURCES = tests/unit/test_krr_kernel.c
tests_unit_test_krr_kernel_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_language_inputs_SOURCES = \
	tests/unit/test_language_inputs.c \
	tests/unit/job_bench.h tests/unit/unit.h
tests_unit_test_language_inputs_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_lines_SOURCES = tests/unit/test_lines.c
tests_unit_test_lines_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_seen_jobs_SOURCES = tests/unit/test_seen_jobs.c
tests_unit_test_seen_jobs_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_memory_SOURCES = tests/unit/test_memory.c \
	tests/unit/job_bench.h tests/unit/unit.h
tests_unit_test_memory_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_expert_parallel_SOURCES = \
	tests/unit/test_expert_parallel.c \
	tests/unit/job_bench.h tests/unit/unit.h
tests_unit_test_expert_parallel_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_gpu_clock_SOURCES = tests/unit/test_gpu_clock.c tests/unit/unit.h
tests_unit_test_gpu_clock_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_power_meter_SOURCES = tests/unit/test_power_meter.c
tests_unit_test_power_meter_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_reading_SOURCES = tests/unit/test_reading.c
tests_unit_test_reading_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_metrics_SOURCES = tests/unit/test_metrics.c
tests_unit_test_metrics_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_model_file_SOURCES = tests/unit/test_model_file.c \
	tests/unit/unit.h \
	tests/unit/fit.h
tests_unit_test_model_file_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_names_SOURCES = tests/unit/test_names.c
tests_unit_test_names_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_node_SOURCES = tests/unit/test_node.c tests/unit/unit.h
tests_unit_test_node_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_number_SOURCES = tests/unit/test_number.c
tests_unit_test_number_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_ols_SOURCES = tests/unit/test_ols.c
tests_unit_test_ols_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_onnx_SOURCES = tests/unit/test_onnx.c \
	tests/unit/onnx_model.h tests/unit/unit.h
tests_unit_test_onnx_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_onnx_faults_SOURCES = tests/unit/test_onnx_faults.c \
	tests/unit/onnx_model.h tests/unit/unit.h
tests_unit_test_onnx_faults_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_onnx_shapes_SOURCES = tests/unit/test_onnx_shapes.c \
	tests/unit/onnx_model.h tests/unit/unit.h
tests_unit_test_onnx_shapes_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_onnx_work_SOURCES = tests/unit/test_onnx_work.c \
	tests/unit/onnx_model.h tests/unit/unit.h
tests_unit_test_onnx_work_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_parallel_SOURCES = tests/unit/test_parallel.c tests/unit/unit.h
tests_unit_test_parallel_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_pareto_SOURCES = tests/unit/test_pareto.c tests/unit/unit.h
tests_unit_test_pareto_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_physical_SOURCES = tests/unit/test_physical.c \
	tests/unit/gradient.h tests/unit/physical_cases.h tests/unit/unit.h
tests_unit_test_physical_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_physical_fit_SOURCES = tests/unit/test_physical_fit.c \
	tests/unit/predict_rows.h tests/unit/training_table.h tests/unit/unit.h
tests_unit_test_physical_fit_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_physical_solver_SOURCES = tests/unit/test_physical_solver.c \
	tests/unit/training_table.h tests/unit/unit.h
tests_unit_test_physical_solver_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_log_grouping_SOURCES = tests/unit/test_log_grouping.c
tests_unit_test_log_grouping_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_plot_SOURCES = tests/unit/test_plot.c
tests_unit_test_plot_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_plot_kinds_SOURCES = tests/unit/test_plot_kinds.c \
	tests/unit/unit.h
tests_unit_test_plot_kinds_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_predictor_SOURCES = tests/unit/test_predictor.c \
	tests/unit/unit.h \
	tests/unit/table.h \
	tests/unit/fit.h
tests_unit_test_predictor_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_process_tree_SOURCES = tests/unit/test_process_tree.c \
	tests/unit/unit.h
tests_unit_test_process_tree_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_projection_SOURCES = tests/unit/test_projection.c
tests_unit_test_projection_LDADD = $(LDADD) $(CMOCKA_LIBS)

tests_unit_test_input_pipeline_SOURCES = tests/unit/test_input_pipeline.c
tests_unit_test_input_pipeline_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_simulated_coverage_SOURCES = \
	tests/unit/test_simulated_coverage.c
tests_unit_test_simulated_coverage_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_projection_interval_SOURCES = \
	tests/unit/test_projection_interval.c
tests_unit_test_projection_interval_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_render_SOURCES = tests/unit/test_render.c
tests_unit_test_render_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_report_SOURCES = tests/unit/test_report.c
tests_unit_test_report_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_ridge_SOURCES = tests/unit/test_ridge.c
tests_unit_test_ridge_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_row_SOURCES = tests/unit/test_row.c \
	tests/unit/unit.h \
	tests/unit/table.h
tests_unit_test_row_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_rules_SOURCES = tests/unit/test_rules.c tests/unit/unit.h
tests_unit_test_rules_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_run_SOURCES = tests/unit/test_run.c tests/unit/unit.h
tests_unit_test_run_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_scale_SOURCES = tests/unit/test_scale.c
tests_unit_test_scale_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_scaling_SOURCES = tests/unit/test_scaling.c
tests_unit_test_scaling_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_select_SOURCES = tests/unit/test_select.c tests/unit/unit.h
tests_unit_test_select_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_language_SOURCES = tests/unit/test_language.c \
	tests/unit/gradient.h tests/unit/predict_rows.h tests/unit/unit.h
tests_unit_test_language_LDADD = $(LDADD) $(CMOCKA_LIBS)

tests_unit_test_serving_SOURCES = tests/unit/test_serving.c \
	tests/unit/gradient.h tests/unit/predict_rows.h tests/unit/unit.h
tests_unit_test_serving_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_cpu_SOURCES = tests/unit/test_cpu.c \
	tests/unit/gradient.h tests/unit/unit.h
tests_unit_test_cpu_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_tuned_SOURCES = tests/unit/test_tuned.c tests/unit/gradient.h \
	tests/unit/unit.h
tests_unit_test_tuned_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_settings_SOURCES = tests/unit/test_settings.c
tests_unit_test_settings_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_sort_SOURCES = tests/unit/test_sort.c
tests_unit_test_sort_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_group_totals_SOURCES = tests/unit/test_group_totals.c tests/unit/unit.h
tests_unit_test_group_totals_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_text_SOURCES = tests/unit/test_text.c tests/unit/unit.h
tests_unit_test_text_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_text_format_SOURCES = tests/unit/test_text_format.c
tests_unit_test_text_format_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_timestamp_SOURCES = tests/unit/test_timestamp.c
tests_unit_test_timestamp_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_training_SOURCES = tests/unit/test_training.c \
	tests/unit/unit.h \
	tests/unit/table.h
tests_unit_test_training_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_training_setup_SOURCES = tests/unit/test_training_setup.c \
	tests/unit/unit.h \
	tests/unit/table.h
tests_unit_test_training_setup_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_transformer_SOURCES = tests/unit/test_transformer.c \
	tests/unit/unit.h
tests_unit_test_transformer_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_validate_SOURCES = tests/unit/test_validate.c
tests_unit_test_validate_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_waiting_SOURCES = tests/unit/test_waiting.c tests/unit/unit.h
tests_unit_test_waiting_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_work_SOURCES = tests/unit/test_work.c \
	tests/unit/job_bench.h tests/unit/unit.h
tests_unit_test_work_LDADD = $(LDADD) $(CMOCKA_LIBS)
tests_unit_test_xml_SOURCES = tests/unit/test_xml.c tests/unit/unit.h
tests_unit_test_xml_LDADD = $(LDADD) $(CMOCKA_LIBS)

TEST_EXTENSIONS = .bats .sh .test
TAP = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP)
LOG_COMPILER = $(SHELL) $(srcdir)/tests/run-unit.sh
BATS_LOG_DRIVER = $(TAP)
TEST_LOG_DRIVER = $(TAP)
SH_LOG_DRIVER = $(TAP)
BATS_LOG_COMPILER = $(BATS) --tap
TEST_LOG_COMPILER = python3 -B $(srcdir)/tests/cli/run-table.py
SH_LOG_COMPILER = $(SHELL)
EXTRA_DIST += tests/environment
# Measured runs that are not part of dlest; tests that need them skip where
# they are absent.
MEASURED_RUNS = $(abs_top_srcdir)/../shared/data
AM_TESTS_ENVIRONMENT = \
	. '$(abs_top_srcdir)/tests/environment'; \
	DLEST_TEST_ENVIRONMENT=set; export DLEST_TEST_ENVIRONMENT; \
	DLEST='$(abs_top_builddir)/dlest'; export DLEST; \
	DLEST_DATADIR='$(abs_top_srcdir)'; export DLEST_DATADIR; \
	TOP_SRCDIR='$(abs_top_srcdir)'; export TOP_SRCDIR; \
	TOP_BUILDDIR='$(abs_top_builddir)'; export TOP_BUILDDIR; \
	test -n "$$MEASURED_RUNS" || MEASURED_RUNS='$(MEASURED_RUNS)'; \
	export MEASURED_RUNS; \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	LOCPATH='$(abs_top_builddir)/tests/locale'; export LOCPATH;

# A locale with a decimal comma, where Debian's package locales is there.
check_DATA = tests/locale/made tests/faults/failing_malloc.so \
	tests/record/libnvidia-ml.so.1 tests/record/libamd_smi.so \
	tests/record/librocm_smi64.so tests/record/fake_clock.so
CLEANFILES += tests/messages.h tests/locale/made tests/faults/failing_malloc.so \
	tests/record/libnvidia-ml.so.1 tests/record/libamd_smi.so \
	tests/record/librocm_smi64.so tests/record/fake_clock.so onnx-proto/onnx.proto \
	onnx-proto/onnx.pb-c.c onnx-proto/onnx.pb-c.h
tests/locale/made:
	$(MKDIR_P) tests/locale
	-localedef -i de_DE -f UTF-8 tests/locale/de_DE.UTF-8 >/dev/null 2>&1
	touch $@
# A library to preload that lets an allocation fail.
EXTRA_DIST += tests/faults/failing_malloc.c tests/faults/malloc_failures.py
tests/faults/failing_malloc.so: tests/faults/failing_malloc.c
	@$(MKDIR_P) tests/faults
	$(AM_V_CCLD)$(CC) -std=gnu17 -D_GNU_SOURCE -O1 -fPIC -shared -o $@ \
	  $(srcdir)/tests/faults/failing_malloc.c
# A driver's library with GPUs that do not exist.
EXTRA_DIST += tests/record/fake_nvml.c
tests/record/libnvidia-ml.so.1: tests/record/fake_nvml.c
	@$(MKDIR_P) tests/record
	$(AM_V_CCLD)$(CC) -std=gnu17 -D_GNU_SOURCE -O1 -fPIC -shared -o $@ \
	  $(srcdir)/tests/record/fake_nvml.c -lm
# AMD's two libraries, in one file.
EXTRA_DIST += tests/record/fake_amd_smi.c
tests/record/libamd_smi.so tests/record/librocm_smi64.so: \
    tests/record/fake_amd_smi.c
	@$(MKDIR_P) tests/record
	$(AM_V_CCLD)$(CC) -std=gnu17 -D_GNU_SOURCE -O1 -fPIC -shared -o $@ \
	  $(srcdir)/tests/record/fake_amd_smi.c
# A library to preload in which clocks jump.
EXTRA_DIST += tests/record/fake_clock.c
tests/record/fake_clock.so: tests/record/fake_clock.c
	@$(MKDIR_P) tests/record
	$(AM_V_CCLD)$(CC) -std=gnu17 -D_GNU_SOURCE -O1 -fPIC -shared -o $@ \
	  $(srcdir)/tests/record/fake_clock.c
clean-local:
	-rm -rf tests/locale deb coverage



# All tests but those that fit models time and again, or compare with what was
# measured or published: for where the machine is not one's own.
check-quick:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="`for t in $(TESTS); do case $$t in \
	  *-published.bats|*/calibrate.bats|*/compare.bats) ;; \
	  */coverage.bats|*/examples.bats|*/fit.bats) ;; \
	  */generalisation.bats|*/physical.bats|*/reproduce.bats) ;; \
	  *) echo $$t ;; esac; done | tr '\\n' ' '`"
.PHONY: check-quick

# Line coverage of src by folder, measured in a build of its own: of the unit
# tests alone, and of these and the tests of check-quick. COVERAGE=unit stops
# after the unit tests, COVERAGE=all runs every test.
COVERAGE = quick
coverage:
	@$(MKDIR_P) coverage
	@cd coverage && { test -f Makefile || \
	  $(abs_srcdir)/configure CC='$(CC)' CFLAGS='-O0 --coverage' \
	    >configure.log; }
	@cd coverage && { $(MAKE) $(AM_MAKEFLAGS) check TESTS= >build.log 2>&1 || \
	  { tail -n 30 build.log; exit 1; }; }
	@find coverage -name '*.gcda' -exec rm -f {} +
	@cd coverage && { $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(UNIT_TESTS)' \
	  >unit.log 2>&1 || { grep -E '^(FAIL|ERROR)' unit.log; exit 1; }; }
	@$(srcdir)/tools/coverage.py coverage --title 'unit tests'
	@target=check-quick; case '$(COVERAGE)' in \
	  unit) exit 0 ;; all) target=check ;; esac; cd coverage && \
	  { $(MAKE) $(AM_MAKEFLAGS) $$target >check.log 2>&1 || \
	    { grep -E '^(FAIL|ERROR)' check.log; exit 1; }; } && \
	  cd .. && echo && \
	  $(srcdir)/tools/coverage.py coverage --title "unit tests, make $$target"
.PHONY: coverage
