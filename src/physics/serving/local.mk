# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/serving_cost.c \
	%D%/serving_cost.h \
	%D%/serving_inputs.c \
	%D%/serving_inputs.h \
	%D%/serving_physics.c
