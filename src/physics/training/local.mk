# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/input_pipeline.c \
	%D%/input_pipeline.h \
	%D%/training_cost.c \
	%D%/training_cost.h \
	%D%/training_gradient.c \
	%D%/training_inputs.c \
	%D%/training_inputs.h \
	%D%/training_parts.c \
	%D%/training_parts.h \
	%D%/training_physics.c \
	%D%/training_step.h \
	%D%/training_without_waiting.c \
	%D%/training_without_waiting.h
