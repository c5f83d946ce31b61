# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/design.h \
	%D%/kernel.c \
	%D%/kernel.h \
	%D%/kernel_body.h \
	%D%/low_rank.c \
	%D%/low_rank.h \
	%D%/krr.c \
	%D%/linear.c \
	%D%/linear.h \
	%D%/ols.c \
	%D%/regression.c \
	%D%/regression.h \
	%D%/regression_methods.c \
	%D%/regression_methods.h \
	%D%/ridge.c \
	%D%/scale.c \
	%D%/scale.h
