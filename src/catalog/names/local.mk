# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/arch_name.c \
	%D%/arch_name.h \
	%D%/entry_names.c \
	%D%/entry_names.h \
	%D%/gpu_match.c \
	%D%/gpu_match.h \
	%D%/gpu_name.c \
	%D%/gpu_name.h \
	%D%/usual_shapes.c \
	%D%/usual_shapes.h
