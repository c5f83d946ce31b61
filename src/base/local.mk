# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/constants.h \
	%D%/diag.c \
	%D%/diag.h \
	%D%/file.c \
	%D%/file.h \
	%D%/memory.c \
	%D%/memory.h \
	%D%/number.c \
	%D%/number.h \
	%D%/portable.c \
	%D%/portable.h \
	%D%/sort.c \
	%D%/sort.h \
	%D%/status.h \
	%D%/temporary.c \
	%D%/temporary.h \
	%D%/text.c \
	%D%/text.h \
	%D%/timestamp.c \
	%D%/timestamp.h
