# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/equal_rows.c \
	%D%/equal_rows.h \
	%D%/math_setup.c \
	%D%/math_setup.h \
	%D%/named_arrays.c \
	%D%/named_arrays.h \
	%D%/pareto.c \
	%D%/pareto.h \
	%D%/scoped_gsl.h \
	%D%/triangular_reduction.c \
	%D%/triangular_reduction.h
