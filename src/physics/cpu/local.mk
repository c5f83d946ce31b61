# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/cpu_cost.c \
	%D%/cpu_cost.h \
	%D%/cpu_inputs.c \
	%D%/cpu_inputs.h \
	%D%/cpu_physics.c \
	%D%/cpu_tokens.c \
	%D%/cpu_tokens.h \
	%D%/package_power.c \
	%D%/package_power.h
