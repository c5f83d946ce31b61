# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/complete.c \
	%D%/complete.h \
	%D%/complete_values.c \
	%D%/offer.c
