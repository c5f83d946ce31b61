# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/auxiliary_rows.c \
	%D%/auxiliary_rows.h \
	%D%/choice.c \
	%D%/choice.h \
	%D%/fit_design.c \
	%D%/fit_design.h \
	%D%/training_columns.c \
	%D%/training_columns.h \
	%D%/training_table.c \
	%D%/training_table.h
