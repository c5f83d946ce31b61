# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/cycles.c \
	%D%/cycles.h \
	%D%/cycles_grid.c \
	%D%/cycles_join.c \
	%D%/cycles_path.c \
	%D%/cycles_private.h \
	%D%/cycles_segments.c \
	%D%/cycles_tempo.c \
	%D%/cycles_track.c \
	%D%/final_phase.c \
	%D%/fluss.c \
	%D%/fluss.h
