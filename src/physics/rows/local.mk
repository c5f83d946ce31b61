# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/row_regression.c \
	%D%/row_regression.h
