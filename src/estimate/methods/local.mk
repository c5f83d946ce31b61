# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/cpu_inference.c \
	%D%/cpu_inference.h \
	%D%/estimator.h \
	%D%/estimators.c \
	%D%/formulas.c \
	%D%/inference.c \
	%D%/inference.h \
	%D%/input_bound.c \
	%D%/input_bound.h \
	%D%/language_training.c \
	%D%/language_training.h \
	%D%/lowered_clock.c \
	%D%/lowered_clock.h \
	%D%/methods.h \
	%D%/model_intervals.c \
	%D%/physical_method.c \
	%D%/plain_software.c \
	%D%/plain_software.h \
	%D%/pre.c \
	%D%/work.c \
	%D%/work.h
