# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/calibrate.c \
	%D%/calibrate.h \
	%D%/model_selection.c \
	%D%/model_selection.h \
	%D%/recipe.c \
	%D%/recipe.h \
	%D%/refit.c \
	%D%/refit.h \
	%D%/train.c \
	%D%/train.h
