# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/clock_shift.c \
	%D%/clock_shift.h \
	%D%/energy_curve.c \
	%D%/energy_curve.h \
	%D%/gaps.c \
	%D%/gaps.h \
	%D%/log_summary.c \
	%D%/log_summary.h \
	%D%/measure.c \
	%D%/measure.h \
	%D%/memory_join.c \
	%D%/memory_join.h \
	%D%/node_join.c \
	%D%/node_join.h \
	%D%/power_meter.c \
	%D%/power_meter.h \
	%D%/reading_sequencer.c \
	%D%/reading_sequencer.h \
	%D%/same_times.c \
	%D%/same_times.h
