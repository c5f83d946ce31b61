# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/tuned_cost.c \
	%D%/tuned_cost.h \
	%D%/tuned_inputs.c \
	%D%/tuned_inputs.h \
	%D%/tuned_physics.c
