# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/inputs.h \
	%D%/physics_regression.c \
	%D%/physics_regression.h \
	%D%/physics_rows.c \
	%D%/physics_rows.h \
	%D%/table_problem.c \
	%D%/table_problem.h
