# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/cycle_parameters.h \
	%D%/cycle_parts.c \
	%D%/cycle_sequence.c \
	%D%/cycle_tracker.c \
	%D%/cycles.c \
	%D%/cycles.h \
	%D%/cycles_private.h \
	%D%/final_phase.c \
	%D%/fluss.c \
	%D%/fluss.h \
	%D%/period_path.c \
	%D%/period_segments.c \
	%D%/signal_grid.c \
	%D%/tempogram.c
