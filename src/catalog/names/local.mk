# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/gpu_match.c \
	%D%/gpu_match.h \
	%D%/gpu_name.c \
	%D%/gpu_name.h
