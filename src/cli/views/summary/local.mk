# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/predict_known.c \
	%D%/predict_known.h \
	%D%/predict_sources.c \
	%D%/predict_sources.h \
	%D%/predict_summary.c \
	%D%/predict_summary.h \
	%D%/predict_title.c \
	%D%/predict_title.h \
	%D%/quantity_words.c \
	%D%/quantity_words.h
