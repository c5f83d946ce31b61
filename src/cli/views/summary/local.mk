# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/answer.c \
	%D%/answer.h \
	%D%/better_setup.c \
	%D%/better_setup.h \
	%D%/fit_summary.c \
	%D%/fit_summary.h \
	%D%/job_parts.c \
	%D%/job_parts.h \
	%D%/predict_summary.c \
	%D%/predict_summary.h \
	%D%/predict_warnings.c \
	%D%/predict_warnings.h \
	%D%/predict_title.c \
	%D%/recommend_summary.c \
	%D%/recommend_summary.h \
	%D%/report_summary.c \
	%D%/report_summary.h \
	%D%/software_carbon.c \
	%D%/software_carbon.h
