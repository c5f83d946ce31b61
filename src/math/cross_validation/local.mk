# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/bootstrap.c \
	%D%/bootstrap.h \
	%D%/cross_validate.c \
	%D%/cross_validate.h \
	%D%/folds.c \
	%D%/folds.h \
	%D%/metrics.c \
	%D%/metrics.h \
	%D%/split.c \
	%D%/split.h
