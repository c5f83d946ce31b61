# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/carbontracker.c \
	%D%/carbontracker.h \
	%D%/carbontracker_output.c \
	%D%/codecarbon.c \
	%D%/eco2ai.c \
	%D%/grafana.c \
	%D%/json_lines.c \
	%D%/metric_series.c \
	%D%/metric_series.h \
	%D%/mlflow.c \
	%D%/powerjoular.c \
	%D%/prometheus_answer.c \
	%D%/wandb_panel.c \
	%D%/zeus.c
