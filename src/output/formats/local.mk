# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/boamps.c \
	%D%/csv_format.c \
	%D%/document.c \
	%D%/document.h \
	%D%/html.c \
	%D%/json.c \
	%D%/latex.c \
	%D%/markdown.c \
	%D%/paragraph.c \
	%D%/prometheus.c \
	%D%/statement.c \
	%D%/statement.h \
	%D%/table_fit.c \
	%D%/table_fit.h \
	%D%/task.c \
	%D%/task.h \
	%D%/text_format.c \
	%D%/text_table.c \
	%D%/text_table.h
