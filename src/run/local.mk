# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/column_names.c \
	%D%/column_names.h \
	%D%/config_key.c \
	%D%/config_key.h \
	%D%/derived.c \
	%D%/plan_steps.c \
	%D%/plan.h \
	%D%/plan_descriptors.c \
	%D%/plan.c \
	%D%/plan_private.h \
	%D%/plan_row.c \
	%D%/plan_messages.c \
	%D%/row.h \
	%D%/run.c \
	%D%/run.h \
	%D%/run_consistency.c \
	%D%/sweep_axis.c \
	%D%/sweep_axis.h \
	%D%/sweep_cursor.c \
	%D%/sweep_cursor.h
