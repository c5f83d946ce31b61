# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/physical.c \
	%D%/physical.h \
	%D%/training_cost.c \
	%D%/training_cost.h \
	%D%/training_gradient.c \
	%D%/training_physics.c \
	%D%/training_step.h
