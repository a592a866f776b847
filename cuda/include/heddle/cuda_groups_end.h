// Behind each header of the groups (cuda_groups_base.h).
#undef HEDDLE_GROUP_
