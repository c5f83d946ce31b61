# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/auxiliary_residuals.c \
	%D%/auxiliary_residuals.h \
	%D%/fold_predictions.c \
	%D%/fold_predictions.h \
	%D%/fold_residuals.c \
	%D%/fold_residuals.h \
	%D%/group_residuals.c \
	%D%/group_residuals.h
