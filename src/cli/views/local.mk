# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/compare_report.c \
	%D%/compare_report.h \
	%D%/result_columns.c \
	%D%/result_columns.h \
	%D%/fit_report.c \
	%D%/fit_report.h \
	%D%/list_catalog.c \
	%D%/list_catalog.h \
	%D%/node_report.c \
	%D%/node_report.h \
	%D%/predict_report.c \
	%D%/predict_report.h \
	%D%/recommend_report.c \
	%D%/report_rows.c \
	%D%/report_rows.h \
	%D%/step_report.c \
	%D%/step_report.h
