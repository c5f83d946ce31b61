# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/config_key.c \
	%D%/config_key.h \
	%D%/derived.c \
	%D%/frame.c \
	%D%/frame.h \
	%D%/frame_descriptors.c \
	%D%/frame_inputs.c \
	%D%/frame_private.h \
	%D%/frame_row.c \
	%D%/frame_warnings.c \
	%D%/row.h \
	%D%/run.c \
	%D%/run.h \
	%D%/run_consistency.c \
	%D%/sweep_axis.c \
	%D%/sweep_axis.h \
	%D%/sweep_cursor.c \
	%D%/sweep_cursor.h
