# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/gguf.c \
	%D%/gguf.h \
	%D%/quantities.c \
	%D%/quantities.def \
	%D%/quantities.h
