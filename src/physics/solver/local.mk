# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/cell_products.c \
	%D%/cell_products.h \
	%D%/equation_blocks.c \
	%D%/equation_blocks.h \
	%D%/minimise.c \
	%D%/minimise.h \
	%D%/normal_equations.c \
	%D%/normal_equations.h \
	%D%/quasi_newton.c \
	%D%/quasi_newton.h
