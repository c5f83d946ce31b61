# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/suggestion.c \
	%D%/suggestion.h \
	%D%/suggestion_rows.c \
	%D%/suggestion_rows.h
