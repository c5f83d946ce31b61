# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/epoch_series.c \
	%D%/epoch_series.h \
	%D%/epoch_series_table.c \
	%D%/projection.c \
	%D%/projection.h \
	%D%/projection_level.c \
	%D%/projection_pattern.c \
	%D%/projection_predictive.c \
	%D%/projection_private.h \
	%D%/projection_published.c \
	%D%/projection_regimes.c \
	%D%/projection_step.c
