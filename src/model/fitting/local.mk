# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/auxiliary_data.c \
	%D%/calibrate.c \
	%D%/calibrate.h \
	%D%/design.c \
	%D%/group_cv_residuals.c \
	%D%/group_cv_residuals.h \
	%D%/held_out.c \
	%D%/held_out.h \
	%D%/held_out_residuals.c \
	%D%/held_out_residuals.h \
	%D%/model_selection.c \
	%D%/recipe.c \
	%D%/recipe.h \
	%D%/refit.c \
	%D%/refit.h \
	%D%/train.c \
	%D%/train.h \
	%D%/training_table.c \
	%D%/training_table.h
