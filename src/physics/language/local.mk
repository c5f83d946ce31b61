# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/language_cost.c \
	%D%/language_cost.h \
	%D%/language_cost_private.h \
	%D%/language_inputs.c \
	%D%/language_inputs.h \
	%D%/language_parts.c \
	%D%/language_parts.h \
	%D%/language_physics.c \
	%D%/language_prior.c \
	%D%/language_prior.h
