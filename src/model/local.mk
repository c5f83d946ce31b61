# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/file_walk.c \
	%D%/file_walk_private.h \
	%D%/residual_interval.c \
	%D%/residual_interval.h \
	%D%/calibration_rows.c \
	%D%/calibration_rows.h \
	%D%/calibration_runs.c \
	%D%/calibration_runs.h \
	%D%/model.c \
	%D%/model.h \
	%D%/model_file.c \
	%D%/predictor.c \
	%D%/value_bounds.c \
	%D%/value_bounds.h \
	%D%/predictor.h
