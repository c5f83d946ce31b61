# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/boamps.c \
	%D%/csv_format.c \
	%D%/json.c \
	%D%/latex.c \
	%D%/markdown.c \
	%D%/markup.c \
	%D%/markup.h \
	%D%/prometheus.c \
	%D%/text_format.c \
	%D%/text_table.c \
	%D%/text_table.h
