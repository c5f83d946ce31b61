#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add processors to the catalogue of accelerators, and what their entries lack.

usage: cpus.py ACCELERATORS.xml > NEW.xml

The table below has what the vendors' pages say; the peak rates follow from it:
cores x lanes x 2 x base clock in FP32, 4 times that in INT8 with VNNI (2 times
without, in 16-bit products of AVX2), 2 times that in BF16 with AVX512-BF16.
A core with AMX does 2,048 operations a cycle in INT8 and 1,024 in BF16: TDPBUSD
multiplies 16 x 64 by 64 x 16 bytes in 16 cycles (Intel 64 and IA-32
Architectures Optimization Reference Manual, chapter on AMX). Entries that are
there keep their values but for these rates.
"""
import re
import sys
import xml.etree.ElementTree as ET

# Per family: vendor, lanes of a core, VNNI, BF16, AMX, memory, channels, MT/s.
FAMILIES = {
    "haswell": ("intel", 16, 0, 0, 0, "ddr4", 4, 2133),
    "broadwell": ("intel", 16, 0, 0, 0, "ddr4", 4, 2400),
    "skylake": ("intel", 32, 0, 0, 0, "ddr4", 6, 2666),
    "cascade-lake": ("intel", 32, 1, 0, 0, "ddr4", 6, 2933),
    "cooper-lake": ("intel", 32, 1, 1, 0, "ddr4", 6, 3200),
    "ice-lake": ("intel", 32, 1, 0, 0, "ddr4", 8, 3200),
    "sapphire-rapids": ("intel", 32, 1, 1, 1, "ddr5", 8, 4800),
    "emerald-rapids": ("intel", 32, 1, 1, 1, "ddr5", 8, 5600),
    "granite-rapids": ("intel", 32, 1, 1, 1, "ddr5", 8, 6400),
    "coffee-lake": ("intel", 16, 0, 0, 0, "ddr4", 2, 2666),
    "comet-lake": ("intel", 16, 0, 0, 0, "ddr4", 2, 2933),
    "tiger-lake": ("intel", 16, 1, 0, 0, "ddr4", 2, 3200),
    "alder-lake": ("intel", 16, 1, 0, 0, "ddr5", 2, 4800),
    "raptor-lake": ("intel", 16, 1, 0, 0, "ddr5", 2, 5600),
    "meteor-lake": ("intel", 16, 1, 0, 0, "ddr5", 2, 5600),
    "zen": ("amd", 8, 0, 0, 0, "ddr4", 8, 2666),
    "zen2": ("amd", 16, 0, 0, 0, "ddr4", 8, 3200),
    "zen3": ("amd", 16, 0, 0, 0, "ddr4", 8, 3200),
    "zen4": ("amd", 16, 1, 1, 0, "ddr5", 12, 4800),
    "zen5": ("amd", 32, 1, 1, 0, "ddr5", 12, 6400),
    "neoverse-n1": ("ampere", 8, 1, 0, 0, "ddr4", 8, 3200),
    "neoverse-v1": ("aws", 16, 1, 1, 0, "ddr5", 8, 4800),
    "neoverse-v2": ("aws", 16, 1, 1, 0, "ddr5", 12, 5600),
}
# Name; family; cores; base and highest clock, MHz; TDP, W; L3, MB; year; what
# differs from the family: channels, MT/s, lanes of all cores.
CPUS = """
Intel Xeon E5-2620 v3|haswell|6|2400|3200|85|15|2014|mts=1866
Intel Xeon E5-2630 v3|haswell|8|2400|3200|85|20|2014|mts=1866
Intel Xeon E5-2640 v3|haswell|8|2600|3400|90|20|2014|mts=1866
Intel Xeon E5-2650 v3|haswell|10|2300|3000|105|25|2014
Intel Xeon E5-2660 v3|haswell|10|2600|3300|105|25|2014
Intel Xeon E5-2680 v3|haswell|12|2500|3300|120|30|2014
Intel Xeon E5-2690 v3|haswell|12|2600|3500|135|30|2014
Intel Xeon E5-2698 v3|haswell|16|2300|3600|135|40|2014
Intel Xeon E5-2620 v4|broadwell|8|2100|3000|85|20|2016|mts=2133
Intel Xeon E5-2640 v4|broadwell|10|2400|3400|90|25|2016|mts=2133
Intel Xeon E5-2660 v4|broadwell|14|2000|3200|105|35|2016
Intel Xeon E5-2686 v4|broadwell|18|2300|3000|145|45|2016
Intel Xeon E5-2695 v4|broadwell|18|2100|3300|120|45|2016
Intel Xeon E5-2699 v4|broadwell|22|2200|3600|145|55|2016
Intel Xeon Silver 4110|skylake|8|2100|3000|85|11|2017|mts=2400,lanes=16
Intel Xeon Silver 4114|skylake|10|2200|3000|85|13.75|2017|mts=2400,lanes=16
Intel Xeon Silver 4116|skylake|12|2100|3000|85|16.5|2017|mts=2400,lanes=16
Intel Xeon Gold 5118|skylake|12|2300|3200|105|16.5|2017|mts=2400,lanes=16
Intel Xeon Gold 6126|skylake|12|2600|3700|125|19.25|2017
Intel Xeon Gold 6132|skylake|14|2600|3700|140|19.25|2017
Intel Xeon Gold 6138|skylake|20|2000|3700|125|27.5|2017
Intel Xeon Gold 6140|skylake|18|2300|3700|140|24.75|2017
Intel Xeon Gold 6142|skylake|16|2600|3700|150|22|2017
Intel Xeon Gold 6150|skylake|18|2700|3700|165|24.75|2017
Intel Xeon Gold 6152|skylake|22|2100|3700|140|30.25|2017
Intel Xeon Gold 6154|skylake|18|3000|3700|200|24.75|2017
Intel Xeon Platinum 8160|skylake|24|2100|3700|150|33|2017
Intel Xeon Platinum 8163|skylake|24|2500|3100|165|33|2017|assumed=tdp_w
Intel Xeon Platinum 8170|skylake|26|2100|3700|165|35.75|2017
Intel Xeon Platinum 8175M|skylake|24|2500|3500|240|33|2017|assumed=tdp_w
Intel Xeon Platinum 8176|skylake|28|2100|3800|165|38.5|2017
Intel Xeon Silver 4210|cascade-lake|10|2200|3200|85|13.75|2019|mts=2400,lanes=16
Intel Xeon Silver 4214|cascade-lake|12|2200|3200|85|16.5|2019|mts=2400,lanes=16
Intel Xeon Silver 4215|cascade-lake|8|2500|3500|85|11|2019|mts=2400,lanes=16
Intel Xeon Silver 4216|cascade-lake|16|2100|3200|100|22|2019|mts=2400,lanes=16
Intel Xeon Silver 4216R|cascade-lake|16|2200|3200|125|22|2020|mts=2400,lanes=16,assumed=tdp_w
Intel Xeon Gold 5218|cascade-lake|16|2300|3900|125|22|2019|mts=2666,lanes=16
Intel Xeon Gold 5218R|cascade-lake|20|2100|4000|125|27.5|2020|mts=2666,lanes=16
Intel Xeon Gold 5218T|cascade-lake|16|2100|3800|105|22|2019|mts=2666,lanes=16
Intel Xeon Gold 5220|cascade-lake|18|2200|3900|125|24.75|2019|mts=2666,lanes=16
Intel Xeon Gold 5220R|cascade-lake|24|2200|4000|150|35.75|2020|mts=2666,lanes=16
Intel Xeon Gold 6226R|cascade-lake|16|2900|3900|150|22|2020
Intel Xeon Gold 6230R|cascade-lake|26|2100|4000|150|35.75|2020
Intel Xeon Gold 6238R|cascade-lake|28|2200|4000|165|38.5|2020
Intel Xeon Gold 6240|cascade-lake|18|2600|3900|150|24.75|2019
Intel Xeon Gold 6240R|cascade-lake|24|2400|4000|165|35.75|2020
Intel Xeon Gold 6242|cascade-lake|16|2800|3900|150|22|2019
Intel Xeon Gold 6242R|cascade-lake|20|3100|4100|205|35.75|2020
Intel Xeon Gold 6248R|cascade-lake|24|3000|4000|205|35.75|2020
Intel Xeon Gold 6252|cascade-lake|24|2100|3700|150|35.75|2019
Intel Xeon Gold 6254|cascade-lake|18|3100|4000|200|24.75|2019
Intel Xeon Gold 6258R|cascade-lake|28|2700|4000|205|38.5|2020
Intel Xeon Platinum 8252C|cascade-lake|12|3800|4500|205|24.75|2019|assumed=tdp_w
Intel Xeon Platinum 8255C|cascade-lake|24|2500|3100|165|35.75|2019|assumed=tdp_w
Intel Xeon Platinum 8259CL|cascade-lake|24|2500|3500|210|35.75|2019|assumed=tdp_w
Intel Xeon Platinum 8268|cascade-lake|24|2900|3900|205|35.75|2019
Intel Xeon Platinum 8270|cascade-lake|26|2700|4000|205|35.75|2019
Intel Xeon Platinum 8275CL|cascade-lake|24|3000|3900|240|35.75|2019|assumed=tdp_w
Intel Xeon Platinum 8276|cascade-lake|28|2200|4000|165|38.5|2019
Intel Xeon Platinum 8280M|cascade-lake|28|2700|4000|205|38.5|2019
Intel Xeon Platinum 9242|cascade-lake|48|2300|3800|350|71.5|2019|ch=12
Intel Xeon Platinum 9282|cascade-lake|56|2600|3800|400|77|2019|ch=12
Intel Core i9-10900X|cascade-lake|10|3700|4500|165|19.25|2019|ch=4
Intel Core i9-10940X|cascade-lake|14|3300|4600|165|19.25|2019|ch=4
Intel Core i9-10980XE|cascade-lake|18|3000|4600|165|24.75|2019|ch=4
Intel Xeon Platinum 8376H|cooper-lake|28|2600|4300|205|38.5|2020
Intel Xeon Platinum 8380H|cooper-lake|28|2900|4300|250|38.5|2020
Intel Xeon Silver 4309Y|ice-lake|8|2800|3600|105|12|2021|mts=2666
Intel Xeon Silver 4316|ice-lake|20|2300|3400|150|30|2021|mts=2666
Intel Xeon Gold 5315Y|ice-lake|8|3200|3600|140|12|2021|mts=2933
Intel Xeon Gold 5317|ice-lake|12|3000|3600|150|18|2021|mts=2933
Intel Xeon Gold 5318Y|ice-lake|24|2100|3400|165|36|2021|mts=2933
Intel Xeon Gold 5320|ice-lake|26|2200|3400|185|39|2021|mts=2933
Intel Xeon Gold 6326|ice-lake|16|2900|3500|185|24|2021
Intel Xeon Gold 6336Y|ice-lake|24|2400|3600|185|36|2021
Intel Xeon Gold 6342|ice-lake|24|2800|3500|230|36|2021
Intel Xeon Gold 6346|ice-lake|16|3100|3600|205|36|2021
Intel Xeon Gold 6348|ice-lake|28|2600|3500|235|42|2021
Intel Xeon Gold 6354|ice-lake|18|3000|3600|205|39|2021
Intel Xeon Platinum 8352M|ice-lake|32|2300|3500|185|48|2021
Intel Xeon Platinum 8352Y|ice-lake|32|2200|3400|205|48|2021
Intel Xeon Platinum 8360Y|ice-lake|36|2400|3500|250|54|2021
Intel Xeon Platinum 8362|ice-lake|32|2800|3600|265|48|2021
Intel Xeon Platinum 8368Q|ice-lake|38|2600|3700|270|57|2021
Intel Xeon Platinum 8369B|ice-lake|32|2700|3500|270|48|2021|assumed=tdp_w
Intel Xeon Platinum 8375C|ice-lake|32|2900|3500|300|54|2021|assumed=tdp_w
Intel Xeon Silver 4410Y|sapphire-rapids|12|2000|3900|150|30|2023|mts=4000
Intel Xeon Silver 4416+|sapphire-rapids|20|2000|3900|165|37.5|2023|mts=4000
Intel Xeon Gold 5416S|sapphire-rapids|16|2000|4000|150|30|2023|mts=4400
Intel Xeon Gold 5418Y|sapphire-rapids|24|2000|3800|185|45|2023|mts=4400
Intel Xeon Gold 5420+|sapphire-rapids|28|2000|4100|205|52.5|2023|mts=4400
Intel Xeon Gold 6426Y|sapphire-rapids|16|2500|4100|185|37.5|2023
Intel Xeon Gold 6438Y+|sapphire-rapids|32|2000|4000|205|60|2023
Intel Xeon Gold 6442Y|sapphire-rapids|24|2600|4000|225|60|2023
Intel Xeon Gold 6448Y|sapphire-rapids|32|2100|4100|225|60|2023
Intel Xeon Gold 6454S|sapphire-rapids|32|2200|3400|270|60|2023
Intel Xeon Platinum 8452Y|sapphire-rapids|36|2000|3200|300|67.5|2023
Intel Xeon Platinum 8458P|sapphire-rapids|44|2700|3800|350|82.5|2023
Intel Xeon Platinum 8460Y+|sapphire-rapids|40|2000|3700|300|105|2023
Intel Xeon Platinum 8462Y+|sapphire-rapids|32|2800|4100|300|60|2023
Intel Xeon Platinum 8470|sapphire-rapids|52|2000|3800|350|105|2023
Intel Xeon Platinum 8480C|sapphire-rapids|56|2000|3800|350|105|2023
Intel Xeon Platinum 8481C|sapphire-rapids|56|2000|3800|350|105|2023|assumed=tdp_w
Intel Xeon Platinum 8488C|sapphire-rapids|48|2400|3800|385|105|2023|assumed=tdp_w
Intel Xeon Platinum 8490H|sapphire-rapids|60|1900|3500|350|112.5|2023
Intel Xeon CPU Max 9460|sapphire-rapids|40|2200|3500|350|97.5|2023
Intel Xeon CPU Max 9480|sapphire-rapids|56|1900|3500|350|112.5|2023
Intel Xeon w7-2495X|sapphire-rapids|24|2500|4800|225|45|2023|ch=4
Intel Xeon w9-3495X|sapphire-rapids|56|1900|4800|350|105|2023
Intel Xeon Silver 4514Y|emerald-rapids|16|2000|3400|150|30|2023|mts=4400
Intel Xeon Gold 5520+|emerald-rapids|28|2200|4000|205|52.5|2023|mts=4800
Intel Xeon Gold 6530|emerald-rapids|32|2100|4000|270|160|2023|mts=4800
Intel Xeon Gold 6538Y+|emerald-rapids|32|2200|4000|225|60|2023|mts=5200
Intel Xeon Gold 6548Y+|emerald-rapids|32|2500|4100|250|60|2023|mts=5200
Intel Xeon Platinum 8558|emerald-rapids|48|2100|4000|330|260|2023|mts=5200
Intel Xeon Platinum 8568Y+|emerald-rapids|48|2300|4000|350|300|2023
Intel Xeon Platinum 8570|emerald-rapids|56|2100|4000|350|300|2023
Intel Xeon Platinum 8580|emerald-rapids|60|2000|4000|350|300|2023
Intel Xeon Platinum 8592V|emerald-rapids|64|2000|3900|330|320|2023|mts=4800
Intel Xeon 6747P|granite-rapids|48|2700|3900|330|288|2025
Intel Xeon 6787P|granite-rapids|86|2000|3800|350|336|2025
Intel Xeon 6960P|granite-rapids|72|2700|3900|500|432|2024|ch=12
Intel Xeon 6972P|granite-rapids|96|2400|3900|500|480|2024|ch=12
Intel Xeon 6979P|granite-rapids|120|2100|3900|500|504|2024|ch=12
Intel Xeon 6980P|granite-rapids|128|2000|3900|500|504|2024|ch=12
Intel Core i5-8400|coffee-lake|6|2800|4000|65|9|2017
Intel Core i3-8100|coffee-lake|4|3600|3600|65|6|2017|mts=2400
Intel Core i5-8500|coffee-lake|6|3000|4100|65|9|2018
Intel Core i7-8700|coffee-lake|6|3200|4600|65|12|2017
Intel Core i7-8700T|coffee-lake|6|2400|4000|35|12|2018
Intel Core i7-9700K|coffee-lake|8|3600|4900|95|12|2018
Intel Xeon E-2124G|coffee-lake|4|3400|4500|71|8|2018
Intel Core i5-10500TE|comet-lake|6|2300|3700|35|12|2020|mts=2666
Intel Core i7-10700|comet-lake|8|2900|4800|65|16|2020
Intel Core i7-10700K|comet-lake|8|3800|5100|125|16|2020
Intel Core i9-10900TE|comet-lake|10|1800|4500|35|20|2020
Intel Xeon W-1290P|comet-lake|10|3700|5300|125|20|2020
Intel Core i7-1185G7|tiger-lake|4|3000|4800|28|12|2020
Intel Core i7-1165G7|tiger-lake|4|2800|4700|28|12|2020
Intel Core i7-1185GRE|tiger-lake|4|1800|4400|15|12|2020
Intel Celeron 6305E|tiger-lake|2|1800|1800|15|4|2020
Intel Core i5-12400|alder-lake|6|2500|4400|65|18|2022
Intel Core i7-12700H|alder-lake|14|2300|4700|45|24|2022|all=160
Intel Core i7-12700K|alder-lake|12|3600|5000|125|25|2021|all=160,turbo=190
Intel Core i9-12900K|alder-lake|16|3200|5200|125|30|2021|all=192
Intel Core i5-13600K|raptor-lake|14|3500|5100|125|24|2022|all=160
Intel Core i7-13700K|raptor-lake|16|3400|5400|125|30|2022|all=192
Intel Core i7-1360P|raptor-lake|12|2200|5000|28|18|2023|all=128,mts=5200
Intel Core i9-13900K|raptor-lake|24|3000|5800|125|36|2022|all=256
Intel Core i9-14900K|raptor-lake|24|3200|6000|125|36|2023|all=256
Intel Core Ultra 7 165H|meteor-lake|16|1400|5000|28|24|2023|all=176
Intel Core Ultra 7 155H|meteor-lake|16|1400|4800|28|24|2023|all=176
AMD EPYC 7251|zen|8|2100|2900|120|32|2017|mts=2400
AMD EPYC 7281|zen|16|2100|2700|170|32|2017
AMD EPYC 7301|zen|16|2200|2700|170|64|2017
AMD EPYC 7351|zen|16|2400|2900|170|64|2017
AMD EPYC 7401|zen|24|2000|3000|170|64|2017
AMD EPYC 7451|zen|24|2300|3200|180|64|2017
AMD EPYC 7501|zen|32|2000|3000|170|64|2017
AMD EPYC 7551|zen|32|2000|3000|180|64|2017
AMD EPYC 7252|zen2|8|3100|3200|120|64|2019|ch=4,mts=2666
AMD EPYC 7262|zen2|8|3200|3400|155|128|2019
AMD EPYC 7272|zen2|12|2900|3200|120|64|2019|ch=4,mts=2666
AMD EPYC 7302|zen2|16|3000|3300|155|128|2019
AMD EPYC 7352|zen2|24|2300|3200|155|128|2019
AMD EPYC 7532|zen2|32|2400|3300|200|256|2020
AMD EPYC 7542|zen2|32|2900|3400|225|128|2019
AMD EPYC 7552|zen2|48|2200|3300|200|192|2019
AMD EPYC 7642|zen2|48|2300|3300|225|256|2019
AMD EPYC 7662|zen2|64|2000|3300|225|256|2020
AMD EPYC 7R32|zen2|48|2800|3300|280|192|2020|assumed=tdp_w
AMD EPYC 7V12|zen2|64|2450|3300|240|256|2020|assumed=tdp_w
AMD EPYC 7F52|zen2|16|3500|3900|240|256|2020
AMD EPYC 7F72|zen2|24|3200|3700|240|192|2020
AMD EPYC 72F3|zen3|8|3700|4100|180|256|2021
AMD EPYC 7343|zen3|16|3200|3900|190|128|2021
AMD EPYC 73F3|zen3|16|3500|4000|240|256|2021
AMD EPYC 7443|zen3|24|2850|4000|200|128|2021
AMD EPYC 7453|zen3|28|2750|3450|225|64|2021
AMD EPYC 74F3|zen3|24|3200|4000|240|256|2021
AMD EPYC 75F3|zen3|32|2950|4000|280|256|2021
AMD EPYC 7643|zen3|48|2300|3600|225|256|2021
AMD EPYC 7663|zen3|56|2000|3500|240|256|2021
AMD EPYC 7773X|zen3|64|2200|3500|280|768|2022
AMD EPYC 7R13|zen3|48|2650|3700|225|256|2021|assumed=tdp_w
AMD EPYC 7J13|zen3|64|2450|3500|280|256|2021|assumed=tdp_w
AMD EPYC 9124|zen4|16|3000|3700|200|64|2022
AMD EPYC 9174F|zen4|16|4100|4400|320|256|2022
AMD EPYC 9224|zen4|24|2500|3700|200|64|2022
AMD EPYC 9254|zen4|24|2900|4150|200|128|2022
AMD EPYC 9274F|zen4|24|4050|4300|320|256|2022
AMD EPYC 9334|zen4|32|2700|3900|210|128|2022
AMD EPYC 9374F|zen4|32|3850|4300|320|256|2022
AMD EPYC 9474F|zen4|48|3600|4100|360|256|2022
AMD EPYC 9534|zen4|64|2450|3700|280|256|2022
AMD EPYC 9634|zen4|84|2250|3700|290|384|2022
AMD EPYC 9684X|zen4|96|2550|3700|400|1152|2023
AMD EPYC 9R14|zen4|96|2600|3700|360|384|2023|assumed=tdp_w
AMD EPYC 9734|zen4|112|2200|3000|340|256|2023
AMD EPYC 9355|zen5|32|3550|4400|280|256|2024
AMD EPYC 9455|zen5|48|3150|4400|300|256|2024
AMD EPYC 9555|zen5|64|3200|4400|360|256|2024
AMD EPYC 9575F|zen5|64|3300|5000|400|256|2024
AMD EPYC 9655|zen5|96|2600|4500|400|384|2024
AMD EPYC 9845|zen5|160|2100|3700|390|320|2024
AMD EPYC 9965|zen5|192|2250|3700|500|384|2024
AMD Ryzen 5 3600|zen2|6|3600|4200|65|32|2019|ch=2
AMD Ryzen 5 5500U|zen2|6|2100|4000|15|8|2021|ch=2
AMD Ryzen 5 5600X|zen3|6|3700|4600|65|32|2020|ch=2
AMD Ryzen 5 5560U|zen3|6|2300|4000|15|8|2021|ch=2
AMD Ryzen 5 5625U|zen3|6|2300|4300|15|16|2022|ch=2
AMD Ryzen 7 5700X|zen3|8|3400|4600|65|32|2022|ch=2
AMD Ryzen 5 7600X|zen4|6|4700|5300|105|32|2022|ch=2,mts=5200
AMD Ryzen 7 7700X|zen4|8|4500|5400|105|32|2022|ch=2,mts=5200
AMD Ryzen 9 7900X|zen4|12|4700|5600|170|64|2022|ch=2,mts=5200
AMD Ryzen Threadripper 1920X|zen|12|3500|4000|180|32|2017|ch=4
AMD Ryzen Threadripper 2950X|zen|16|3500|4400|180|32|2018|ch=4,mts=2933
AMD Ryzen Threadripper PRO 3995WX|zen2|64|2700|4200|280|256|2020
AMD Ryzen Threadripper PRO 5975WX|zen3|32|3600|4500|280|128|2022
AMD Ryzen Threadripper PRO 5995WX|zen3|64|2700|4500|280|256|2022
AMD Ryzen Threadripper PRO 7995WX|zen4|96|2500|5100|350|384|2023|ch=8,mts=5200
Ampere Altra Q80-30|neoverse-n1|80|3000|3000|210|32|2020
Ampere Altra Max M128-30|neoverse-n1|128|3000|3000|250|16|2021
AWS Graviton2|neoverse-n1|64|2500|2500|110|32|2020|assumed=tdp_w,vendor=aws
AWS Graviton3|neoverse-v1|64|2600|2600|110|32|2022|assumed=tdp_w
AWS Graviton4|neoverse-v2|96|2800|2800|200|36|2024|assumed=tdp_w
NVIDIA Grace CPU|neoverse-v2|72|3100|3400|250|114|2023|ch=8,mts=8533,vendor=nvidia,mem=lpddr5x,assumed=tdp_w
"""
SOURCE = {"amd": "amd-epyc", "intel": "intel-ark", "ampere": "ampere-altra",
          "aws": "aws-graviton", "nvidia": "nvidia-grace"}
# What an operating system reports, where the name alone does not say it.
ALIASES = {"Ampere Altra Q80-30": ["ampere-altra"],
           "Ampere Altra Max M128-30": ["ampere-altra-max"],
           "AWS Graviton2": ["graviton2"], "AWS Graviton3": ["graviton3"],
           "AWS Graviton4": ["graviton4"]}
NEW_SOURCES = """\
    <source id="ampere-altra" title="Ampere Altra and Altra Max processors, product briefs" year="2021" url="https://amperecomputing.com/products/processors"/>
    <source id="aws-graviton" title="AWS Graviton processors, technical guide" year="2024" url="https://github.com/aws/aws-graviton-getting-started"/>
    <source id="nvidia-grace" title="NVIDIA Grace CPU Superchip data sheet: two CPUs and their memory draw 500 W" year="2023" url="https://resources.nvidia.com/en-us-grace-cpu/grace-cpu-superchip"/>
"""


def short(x):
    return f"{x:.4g}"


def ident(name):
    words = name.lower().split()
    if words[0] in ("intel", "amd"):
        words = words[1:]
    text = "-".join(words).replace("-cpu", "").replace("ryzen-threadripper",
                                                       "threadripper")
    return text.replace("(", "").replace(")", "")


def rates(flop, family, cores, base):
    """peak rates: element, value in 1e12, note"""
    _, lanes, vnni, bf16, amx, *_ = FAMILIES[family]
    yield "peak_fp64_tflops", flop / 2, "derived: half of the fp32 rate"
    yield "peak_fp32_tflops", flop, None
    if bf16:
        yield ("peak_bf16_tflops", 2 * flop,
               "derived: BF16 dot products, 2 x fp32 rate")
    if amx:
        yield ("peak_bf16_tensor_tflops", cores * base * 1024e6 / 1e12,
               "derived: AMX, 1024 operations a cycle and core at the base "
               "clock")
    yield ("peak_int8_tops", (4 if vnni else 2) * flop,
           "derived: INT8 dot products, 4 x fp32 rate" if vnni else
           "derived: 16-bit products of AVX2, 2 x fp32 rate")
    if amx:
        yield ("peak_int8_tensor_tops", cores * base * 2048e6 / 1e12,
               "derived: AMX, 2048 operations a cycle and core at the base "
               "clock")


def entry(line):
    name, family, cores, base, boost, tdp, cache, year, *more = line.split("|")
    own = dict(part.split("=") for part in more[0].split(",")) if more else {}
    vendor, lanes, vnni, bf16, amx, memory, channels, speed = FAMILIES[family]
    vendor = own.get("vendor", vendor)
    cores, base = int(cores), float(base)
    lanes = int(own.get("lanes", lanes))
    total = int(own.get("all", cores * lanes))
    channels = int(own.get("ch", channels))
    speed = int(own.get("mts", speed))
    memory = own.get("mem", memory)
    source = SOURCE[vendor]
    if vendor == "amd" and "Ryzen" in name:
        source = "amd-ryzen"
    flop = total * 2 * base * 1e6 / 1e12
    out = [f'  <entry id="{ident(name)}" name="{name}" vendor="{vendor}" '
           f'family="{family}" form="socket" memory_type="{memory}">']
    out += [f"    <alias>{alias}</alias>" for alias in ALIASES.get(name, [])]

    def value(field, x, note=None):
        text = f' note="{note}"' if note else ""
        out.append(f'    <value name="{field}" source="{source}"{text}>{x}'
                   "</value>")
    value("tdp_w", short(float(tdp)),
          "assumed: the vendor does not publish it" if "tdp_w" in
          own.get("assumed", "") else "disputed: base power; the highest is "
          f"{own['turbo']} W" if "turbo" in own else None)
    for field, x, note in rates(flop, family, cores, base):
        if field == "peak_fp32_tflops":
            note = (f"derived: {total} lanes x 2 x base clock" if "all" in own
                    else f"derived: {cores} cores x {lanes} lanes x 2 x base "
                    "clock")
            if lanes == 32 and vendor == "intel":
                note += "; the clock of wide vector code may be lower"
        value(field, short(x), note)
    value("bandwidth_gb_s", short(channels * speed * 8 / 1e3),
          ("exception: two dies, " if channels > 8 and memory == "ddr4" else
           "derived: ") + f"{channels} channels of {memory.upper()}-{speed}")
    value("cuda_cores", total, "derived: fp32 lanes")
    value("multiprocessors", cores, "cores")
    value("memory_channels", channels)
    value("base_mhz", short(base))
    value("boost_mhz", short(float(boost)), "highest, one core")
    value("l2_mb", cache, "last-level cache (L3)")
    value("year", year)
    return "\n".join(out + ["  </entry>"]) + "\n"


def renewed(block):
    """an entry of the catalogue with the rates and channels that it lacks"""
    family = re.search(r'family="([^"]*)"', block).group(1)
    known = FAMILIES.get(family)
    number = re.search(r"derived: (\d+) channels", block)
    if not known or 'form="socket"' not in block or not number:
        return block
    cores = float(re.search(r'multiprocessors"[^>]*>([^<]*)', block).group(1))
    base = float(re.search(r'base_mhz"[^>]*>([^<]*)', block).group(1))
    flop = float(re.search(r'peak_fp32_tflops"[^>]*>([^<]*)', block).group(1))
    source = re.search(r'base_mhz" source="([^"]*)"', block).group(1)
    for field, x, note in rates(flop, family, cores, base):
        line = (f'    <value name="{field}" source="{source}" note="{note}">'
                f"{short(x)}</value>\n")
        old = re.search(rf'    <value name="{field}"[^\n]*\n', block)
        if field in ("peak_bf16_tensor_tflops", "peak_int8_tensor_tops"):
            block = block.replace(old.group(0), line)
        elif not old:
            block = block.replace('    <value name="bandwidth_gb_s"',
                                  line + '    <value name="bandwidth_gb_s"')
    if "memory_channels" not in block:
        block = block.replace(
            '    <value name="base_mhz"',
            f'    <value name="memory_channels" source="{source}">'
            f'{number.group(1)}</value>\n    <value name="base_mhz"')
    return block


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    text = open(sys.argv[1], encoding="utf-8").read()
    there = {e.get("id") for e in ET.fromstring(text).findall("entry")}
    text = re.sub(r"  <entry .*?</entry>\n", lambda m: renewed(m.group(0)),
                  text, flags=re.S)
    if 'id="ampere-altra"' not in text:
        text = text.replace("  </sources>", NEW_SOURCES + "  </sources>", 1)
    new = [entry(line) for line in CPUS.strip().split("\n")
           if ident(line.split("|")[0]) not in there]
    sys.stdout.write(text.replace("</catalog>", "".join(new) + "</catalog>"))


if __name__ == "__main__":
    main()
