# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/calibrated_model.c \
	%D%/calibrated_model.h \
	%D%/compare_pass.c \
	%D%/compare_pass.h \
	%D%/extract_rows.c \
	%D%/extract_rows.h \
	%D%/fit_auxiliary.c \
	%D%/fit_auxiliary.h \
	%D%/fit_predictions.c \
	%D%/fit_predictions.h \
	%D%/write_results.c \
	%D%/write_results.h \
	%D%/recommend.h \
	%D%/recommend_nodes.c \
	%D%/recommend_costs.c \
	%D%/recommend_read.c \
	%D%/report_pass.c \
	%D%/report_pass.h \
	%D%/step_follow.c \
	%D%/step_follow.h
