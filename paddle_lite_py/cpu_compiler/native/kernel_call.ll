; generated from kernel_call.c, sha256 6dea2f1a90c9179a181409fcf25d451619722dcb8622bb0242c4d2cf5b6dde51
; ModuleID = 'kernel_call.c'
source_filename = "kernel_call.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.XLA_FFI_ThreadPool_Schedule_Args = type { i64, ptr, ptr, ptr, ptr }
%struct.XLA_FFI_Error_Destroy_Args = type { i64, ptr, ptr }
%struct.XLA_FFI_Error_Create_Args = type { i64, ptr, ptr, i32 }
%struct.XLA_FFI_CallFrame = type { i64, ptr, ptr, ptr, i32, %struct.XLA_FFI_Args, %struct.XLA_FFI_Rets, %struct.XLA_FFI_Attrs, ptr }
%struct.XLA_FFI_Args = type { i64, ptr, i64, ptr, ptr }
%struct.XLA_FFI_Rets = type { i64, ptr, i64, ptr, ptr }
%struct.XLA_FFI_Attrs = type { i64, ptr, i64, ptr, ptr, ptr }
%struct.XLA_FFI_Extension_Base = type { i64, i32, ptr }
%struct.XLA_FFI_Metadata_Extension = type { %struct.XLA_FFI_Extension_Base, ptr }
%struct.XLA_FFI_Metadata = type { i64, %struct.XLA_FFI_Api_Version, i32, %struct.XLA_FFI_TypeId }
%struct.XLA_FFI_Api_Version = type { i64, ptr, i32, i32 }
%struct.XLA_FFI_TypeId = type { i64 }
%struct.XLA_FFI_Scalar = type { i32, ptr }
%struct.Plan = type { i64, ptr, [0 x i64] }
%struct.XLA_FFI_Api = type { i64, ptr, %struct.XLA_FFI_Api_Version, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
%struct.XLA_FFI_Buffer = type { i64, ptr, i32, ptr, i64, ptr }
%struct.Work = type { i64, i64, i64, %struct.Task, [64 x ptr] }
%struct.Task = type { ptr, i64, i64, i64, i64 }

@.str = private unnamed_addr constant [42 x i8] c"a kernel that this process has no plan of\00", align 1
@plans = local_unnamed_addr global [4096 x ptr] zeroinitializer, align 16
@.str.1 = private unnamed_addr constant [23 x i8] c"no memory for a kernel\00", align 1

; Function Attrs: nounwind uwtable(sync)
define ptr @call(ptr nocapture noundef readonly %0) local_unnamed_addr #0 {
  %2 = alloca %struct.XLA_FFI_ThreadPool_Schedule_Args, align 8
  %3 = alloca %struct.XLA_FFI_Error_Destroy_Args, align 8
  %4 = alloca %struct.XLA_FFI_Error_Create_Args, align 8
  %5 = alloca %struct.XLA_FFI_Error_Create_Args, align 8
  %6 = alloca [64 x ptr], align 16
  %7 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 1
  %8 = load ptr, ptr %7, align 8, !tbaa !5
  %9 = icmp eq ptr %8, null
  br i1 %9, label %19, label %10

10:                                               ; preds = %1
  %11 = getelementptr inbounds %struct.XLA_FFI_Extension_Base, ptr %8, i64 0, i32 1
  %12 = load i32, ptr %11, align 8, !tbaa !15
  %13 = icmp eq i32 %12, 1
  br i1 %13, label %14, label %19

14:                                               ; preds = %10
  %15 = getelementptr inbounds %struct.XLA_FFI_Metadata_Extension, ptr %8, i64 0, i32 1
  %16 = load ptr, ptr %15, align 8, !tbaa !17
  %17 = getelementptr inbounds %struct.XLA_FFI_Metadata, ptr %16, i64 0, i32 1, i32 2
  store i32 0, ptr %17, align 8, !tbaa !19
  %18 = getelementptr inbounds %struct.XLA_FFI_Metadata, ptr %16, i64 0, i32 1, i32 3
  store i32 3, ptr %18, align 4, !tbaa !21
  br label %275

19:                                               ; preds = %10, %1
  %20 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 7, i32 5
  %21 = load ptr, ptr %20, align 8, !tbaa !22
  %22 = load ptr, ptr %21, align 8, !tbaa !23
  %23 = getelementptr inbounds %struct.XLA_FFI_Scalar, ptr %22, i64 0, i32 1
  %24 = load ptr, ptr %23, align 8, !tbaa !24
  %25 = load i64, ptr %24, align 8, !tbaa !26
  %26 = and i64 %25, 4095
  %27 = getelementptr inbounds [4096 x ptr], ptr @plans, i64 0, i64 %26
  %28 = load ptr, ptr %27, align 8, !tbaa !23
  %29 = icmp eq ptr %28, null
  br i1 %29, label %38, label %30

30:                                               ; preds = %19, %34
  %31 = phi ptr [ %36, %34 ], [ %28, %19 ]
  %32 = load i64, ptr %31, align 8, !tbaa !26
  %33 = icmp eq i64 %32, %25
  br i1 %33, label %47, label %34

34:                                               ; preds = %30
  %35 = getelementptr inbounds %struct.Plan, ptr %31, i64 0, i32 1
  %36 = load ptr, ptr %35, align 8, !tbaa !23
  %37 = icmp eq ptr %36, null
  br i1 %37, label %38, label %30, !llvm.loop !27

38:                                               ; preds = %34, %19
  call void @llvm.lifetime.start.p0(i64 32, ptr nonnull %5) #8
  store i64 32, ptr %5, align 8, !tbaa !29
  %39 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %5, i64 0, i32 1
  store ptr null, ptr %39, align 8, !tbaa !31
  %40 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %5, i64 0, i32 2
  store ptr @.str, ptr %40, align 8, !tbaa !32
  %41 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %5, i64 0, i32 3
  store i32 5, ptr %41, align 8, !tbaa !33
  %42 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 2
  %43 = load ptr, ptr %42, align 8, !tbaa !34
  %44 = getelementptr inbounds %struct.XLA_FFI_Api, ptr %43, i64 0, i32 4
  %45 = load ptr, ptr %44, align 8, !tbaa !35
  %46 = call ptr %45(ptr noundef nonnull %5) #8
  call void @llvm.lifetime.end.p0(i64 32, ptr nonnull %5) #8
  br label %275

47:                                               ; preds = %30
  %48 = getelementptr inbounds %struct.Plan, ptr %31, i64 0, i32 2
  %49 = getelementptr inbounds %struct.Plan, ptr %31, i64 3
  %50 = load i64, ptr %49, align 8, !tbaa !37
  %51 = icmp eq i64 %50, 0
  br i1 %51, label %203, label %52

52:                                               ; preds = %47
  %53 = tail call noalias dereferenceable_or_null(576) ptr @malloc(i64 noundef 576) #9
  %54 = icmp eq ptr %53, null
  br i1 %54, label %55, label %64

55:                                               ; preds = %52
  call void @llvm.lifetime.start.p0(i64 32, ptr nonnull %4) #8
  store i64 32, ptr %4, align 8, !tbaa !29
  %56 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %4, i64 0, i32 1
  store ptr null, ptr %56, align 8, !tbaa !31
  %57 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %4, i64 0, i32 2
  store ptr @.str.1, ptr %57, align 8, !tbaa !32
  %58 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %4, i64 0, i32 3
  store i32 8, ptr %58, align 8, !tbaa !33
  %59 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 2
  %60 = load ptr, ptr %59, align 8, !tbaa !34
  %61 = getelementptr inbounds %struct.XLA_FFI_Api, ptr %60, i64 0, i32 4
  %62 = load ptr, ptr %61, align 8, !tbaa !35
  %63 = call ptr %62(ptr noundef nonnull %4) #8
  call void @llvm.lifetime.end.p0(i64 32, ptr nonnull %4) #8
  br label %275

64:                                               ; preds = %52
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %53, i8 0, i64 16, i1 false)
  %65 = getelementptr inbounds i8, ptr %53, i64 64
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(512) %65, i8 0, i64 512, i1 false)
  %66 = add nsw i64 %50, 1
  %67 = getelementptr inbounds i8, ptr %53, i64 24
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(40) %67, ptr noundef nonnull align 8 dereferenceable(40) %48, i64 40, i1 false)
  %68 = getelementptr inbounds i8, ptr %53, i64 16
  store i64 %66, ptr %68, align 8, !tbaa.struct !39
  %69 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 5, i32 2
  %70 = load i64, ptr %69, align 8, !tbaa !41
  %71 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 6, i32 2
  %72 = load i64, ptr %71, align 8, !tbaa !42
  %73 = add nsw i64 %72, %70
  %74 = icmp sgt i64 %73, 0
  br i1 %74, label %75, label %136

75:                                               ; preds = %64
  %76 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 6, i32 4
  %77 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 5, i32 4
  %78 = add i64 %70, %72
  %79 = and i64 %73, 1
  %80 = icmp eq i64 %78, 1
  br i1 %80, label %118, label %81

81:                                               ; preds = %75
  %82 = and i64 %73, 9223372036854775806
  br label %83

83:                                               ; preds = %109, %81
  %84 = phi i64 [ 0, %81 ], [ %115, %109 ]
  %85 = phi i64 [ 0, %81 ], [ %116, %109 ]
  %86 = icmp sgt i64 %70, %84
  br i1 %86, label %87, label %90

87:                                               ; preds = %83
  %88 = load ptr, ptr %77, align 8, !tbaa !43
  %89 = getelementptr inbounds ptr, ptr %88, i64 %84
  br label %94

90:                                               ; preds = %83
  %91 = load ptr, ptr %76, align 8, !tbaa !44
  %92 = sub nsw i64 %84, %70
  %93 = getelementptr inbounds ptr, ptr %91, i64 %92
  br label %94

94:                                               ; preds = %90, %87
  %95 = phi ptr [ %89, %87 ], [ %93, %90 ]
  %96 = load ptr, ptr %95, align 8, !tbaa !23
  %97 = getelementptr inbounds %struct.XLA_FFI_Buffer, ptr %96, i64 0, i32 3
  %98 = load ptr, ptr %97, align 8, !tbaa !45
  %99 = getelementptr inbounds ptr, ptr %65, i64 %84
  store ptr %98, ptr %99, align 8, !tbaa !23
  %100 = or disjoint i64 %84, 1
  %101 = icmp sgt i64 %70, %100
  br i1 %101, label %106, label %102

102:                                              ; preds = %94
  %103 = load ptr, ptr %76, align 8, !tbaa !44
  %104 = sub nsw i64 %100, %70
  %105 = getelementptr inbounds ptr, ptr %103, i64 %104
  br label %109

106:                                              ; preds = %94
  %107 = load ptr, ptr %77, align 8, !tbaa !43
  %108 = getelementptr inbounds ptr, ptr %107, i64 %100
  br label %109

109:                                              ; preds = %106, %102
  %110 = phi ptr [ %108, %106 ], [ %105, %102 ]
  %111 = load ptr, ptr %110, align 8, !tbaa !23
  %112 = getelementptr inbounds %struct.XLA_FFI_Buffer, ptr %111, i64 0, i32 3
  %113 = load ptr, ptr %112, align 8, !tbaa !45
  %114 = getelementptr inbounds ptr, ptr %65, i64 %100
  store ptr %113, ptr %114, align 8, !tbaa !23
  %115 = add nuw nsw i64 %84, 2
  %116 = add i64 %85, 2
  %117 = icmp eq i64 %116, %82
  br i1 %117, label %118, label %83, !llvm.loop !47

118:                                              ; preds = %109, %75
  %119 = phi i64 [ 0, %75 ], [ %115, %109 ]
  %120 = icmp eq i64 %79, 0
  br i1 %120, label %136, label %121

121:                                              ; preds = %118
  %122 = icmp sgt i64 %70, %119
  br i1 %122, label %127, label %123

123:                                              ; preds = %121
  %124 = load ptr, ptr %76, align 8, !tbaa !44
  %125 = sub nsw i64 %119, %70
  %126 = getelementptr inbounds ptr, ptr %124, i64 %125
  br label %130

127:                                              ; preds = %121
  %128 = load ptr, ptr %77, align 8, !tbaa !43
  %129 = getelementptr inbounds ptr, ptr %128, i64 %119
  br label %130

130:                                              ; preds = %127, %123
  %131 = phi ptr [ %129, %127 ], [ %126, %123 ]
  %132 = load ptr, ptr %131, align 8, !tbaa !23
  %133 = getelementptr inbounds %struct.XLA_FFI_Buffer, ptr %132, i64 0, i32 3
  %134 = load ptr, ptr %133, align 8, !tbaa !45
  %135 = getelementptr inbounds ptr, ptr %65, i64 %119
  store ptr %134, ptr %135, align 8, !tbaa !23
  br label %136

136:                                              ; preds = %130, %118, %64
  %137 = icmp sgt i64 %50, 0
  br i1 %137, label %138, label %163

138:                                              ; preds = %136
  %139 = getelementptr inbounds %struct.XLA_FFI_ThreadPool_Schedule_Args, ptr %2, i64 0, i32 1
  %140 = getelementptr inbounds %struct.XLA_FFI_ThreadPool_Schedule_Args, ptr %2, i64 0, i32 2
  %141 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 3
  %142 = getelementptr inbounds %struct.XLA_FFI_ThreadPool_Schedule_Args, ptr %2, i64 0, i32 3
  %143 = getelementptr inbounds %struct.XLA_FFI_ThreadPool_Schedule_Args, ptr %2, i64 0, i32 4
  %144 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 2
  br label %145

145:                                              ; preds = %159, %138
  %146 = phi i64 [ 0, %138 ], [ %160, %159 ]
  call void @llvm.lifetime.start.p0(i64 40, ptr nonnull %2) #8
  store i64 40, ptr %2, align 8, !tbaa !48
  store ptr null, ptr %139, align 8, !tbaa !50
  %147 = load ptr, ptr %141, align 8, !tbaa !51
  store ptr %147, ptr %140, align 8, !tbaa !52
  store ptr @help, ptr %142, align 8, !tbaa !53
  store ptr %53, ptr %143, align 8, !tbaa !54
  %148 = load ptr, ptr %144, align 8, !tbaa !34
  %149 = getelementptr inbounds %struct.XLA_FFI_Api, ptr %148, i64 0, i32 15
  %150 = load ptr, ptr %149, align 8, !tbaa !55
  %151 = call ptr %150(ptr noundef nonnull %2) #8
  %152 = icmp eq ptr %151, null
  br i1 %152, label %159, label %153

153:                                              ; preds = %145
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %3) #8
  store i64 24, ptr %3, align 8, !tbaa !56
  %154 = getelementptr inbounds %struct.XLA_FFI_Error_Destroy_Args, ptr %3, i64 0, i32 1
  store ptr null, ptr %154, align 8, !tbaa !58
  %155 = getelementptr inbounds %struct.XLA_FFI_Error_Destroy_Args, ptr %3, i64 0, i32 2
  store ptr %151, ptr %155, align 8, !tbaa !59
  %156 = load ptr, ptr %144, align 8, !tbaa !34
  %157 = getelementptr inbounds %struct.XLA_FFI_Api, ptr %156, i64 0, i32 6
  %158 = load ptr, ptr %157, align 8, !tbaa !60
  call void %158(ptr noundef nonnull %3) #8
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %3) #8
  call void @llvm.lifetime.end.p0(i64 40, ptr nonnull %2) #8
  br label %163

159:                                              ; preds = %145
  call void @llvm.lifetime.end.p0(i64 40, ptr nonnull %2) #8
  %160 = add nuw nsw i64 %146, 1
  %161 = load i64, ptr %49, align 8, !tbaa !37
  %162 = icmp slt i64 %160, %161
  br i1 %162, label %145, label %163, !llvm.loop !61

163:                                              ; preds = %159, %153, %136
  %164 = phi i64 [ %146, %153 ], [ 0, %136 ], [ %160, %159 ]
  %165 = getelementptr inbounds %struct.Work, ptr %53, i64 0, i32 3, i32 3
  %166 = atomicrmw add ptr %53, i64 1 seq_cst, align 8
  %167 = load i64, ptr %165, align 8, !tbaa !62
  %168 = icmp slt i64 %166, %167
  br i1 %168, label %169, label %185

169:                                              ; preds = %163
  %170 = getelementptr inbounds %struct.Work, ptr %53, i64 0, i32 3, i32 2
  %171 = getelementptr inbounds %struct.Work, ptr %53, i64 0, i32 3, i32 1
  %172 = getelementptr inbounds %struct.Work, ptr %53, i64 0, i32 1
  br label %173

173:                                              ; preds = %173, %169
  %174 = phi i64 [ %166, %169 ], [ %182, %173 ]
  %175 = load i64, ptr %170, align 8, !tbaa !63
  %176 = mul nsw i64 %175, %174
  %177 = add nsw i64 %176, %175
  %178 = load ptr, ptr %67, align 8, !tbaa !64
  %179 = load i64, ptr %171, align 8, !tbaa !65
  %180 = call i64 @llvm.smin.i64(i64 %177, i64 %179)
  call void %178(ptr noundef nonnull %65, i64 noundef %176, i64 noundef %180) #8
  %181 = atomicrmw add ptr %172, i64 1 seq_cst, align 8
  %182 = atomicrmw add ptr %53, i64 1 seq_cst, align 8
  %183 = load i64, ptr %165, align 8, !tbaa !62
  %184 = icmp slt i64 %182, %183
  br i1 %184, label %173, label %185, !llvm.loop !66

185:                                              ; preds = %173, %163
  %186 = getelementptr inbounds %struct.Work, ptr %53, i64 0, i32 1
  %187 = getelementptr inbounds %struct.Plan, ptr %31, i64 2, i32 1
  %188 = load atomic i64, ptr %186 seq_cst, align 8
  %189 = load i64, ptr %187, align 8, !tbaa !62
  %190 = icmp slt i64 %188, %189
  br i1 %190, label %191, label %196

191:                                              ; preds = %185, %191
  %192 = call i32 @sched_yield() #8
  %193 = load atomic i64, ptr %186 seq_cst, align 8
  %194 = load i64, ptr %187, align 8, !tbaa !62
  %195 = icmp slt i64 %193, %194
  br i1 %195, label %191, label %196, !llvm.loop !67

196:                                              ; preds = %191, %185
  %197 = load i64, ptr %49, align 8, !tbaa !37
  %198 = sub i64 %197, %164
  %199 = add i64 %198, 1
  %200 = atomicrmw sub ptr %68, i64 %199 seq_cst, align 8
  %201 = icmp eq i64 %200, %199
  br i1 %201, label %202, label %275

202:                                              ; preds = %196
  call void @free(ptr noundef nonnull %53) #8
  br label %275

203:                                              ; preds = %47
  call void @llvm.lifetime.start.p0(i64 512, ptr nonnull %6) #8
  %204 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 5, i32 2
  %205 = load i64, ptr %204, align 8, !tbaa !41
  %206 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 6, i32 2
  %207 = load i64, ptr %206, align 8, !tbaa !42
  %208 = add nsw i64 %207, %205
  %209 = icmp sgt i64 %208, 0
  br i1 %209, label %210, label %271

210:                                              ; preds = %203
  %211 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 6, i32 4
  %212 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 5, i32 4
  %213 = add i64 %205, %207
  %214 = and i64 %208, 1
  %215 = icmp eq i64 %213, 1
  br i1 %215, label %253, label %216

216:                                              ; preds = %210
  %217 = and i64 %208, 9223372036854775806
  br label %218

218:                                              ; preds = %244, %216
  %219 = phi i64 [ 0, %216 ], [ %250, %244 ]
  %220 = phi i64 [ 0, %216 ], [ %251, %244 ]
  %221 = icmp sgt i64 %205, %219
  br i1 %221, label %222, label %225

222:                                              ; preds = %218
  %223 = load ptr, ptr %212, align 8, !tbaa !43
  %224 = getelementptr inbounds ptr, ptr %223, i64 %219
  br label %229

225:                                              ; preds = %218
  %226 = load ptr, ptr %211, align 8, !tbaa !44
  %227 = sub nsw i64 %219, %205
  %228 = getelementptr inbounds ptr, ptr %226, i64 %227
  br label %229

229:                                              ; preds = %225, %222
  %230 = phi ptr [ %224, %222 ], [ %228, %225 ]
  %231 = load ptr, ptr %230, align 8, !tbaa !23
  %232 = getelementptr inbounds %struct.XLA_FFI_Buffer, ptr %231, i64 0, i32 3
  %233 = load ptr, ptr %232, align 8, !tbaa !45
  %234 = getelementptr inbounds ptr, ptr %6, i64 %219
  store ptr %233, ptr %234, align 16, !tbaa !23
  %235 = or disjoint i64 %219, 1
  %236 = icmp sgt i64 %205, %235
  br i1 %236, label %241, label %237

237:                                              ; preds = %229
  %238 = load ptr, ptr %211, align 8, !tbaa !44
  %239 = sub nsw i64 %235, %205
  %240 = getelementptr inbounds ptr, ptr %238, i64 %239
  br label %244

241:                                              ; preds = %229
  %242 = load ptr, ptr %212, align 8, !tbaa !43
  %243 = getelementptr inbounds ptr, ptr %242, i64 %235
  br label %244

244:                                              ; preds = %241, %237
  %245 = phi ptr [ %243, %241 ], [ %240, %237 ]
  %246 = load ptr, ptr %245, align 8, !tbaa !23
  %247 = getelementptr inbounds %struct.XLA_FFI_Buffer, ptr %246, i64 0, i32 3
  %248 = load ptr, ptr %247, align 8, !tbaa !45
  %249 = getelementptr inbounds ptr, ptr %6, i64 %235
  store ptr %248, ptr %249, align 8, !tbaa !23
  %250 = add nuw nsw i64 %219, 2
  %251 = add i64 %220, 2
  %252 = icmp eq i64 %251, %217
  br i1 %252, label %253, label %218, !llvm.loop !47

253:                                              ; preds = %244, %210
  %254 = phi i64 [ 0, %210 ], [ %250, %244 ]
  %255 = icmp eq i64 %214, 0
  br i1 %255, label %271, label %256

256:                                              ; preds = %253
  %257 = icmp sgt i64 %205, %254
  br i1 %257, label %262, label %258

258:                                              ; preds = %256
  %259 = load ptr, ptr %211, align 8, !tbaa !44
  %260 = sub nsw i64 %254, %205
  %261 = getelementptr inbounds ptr, ptr %259, i64 %260
  br label %265

262:                                              ; preds = %256
  %263 = load ptr, ptr %212, align 8, !tbaa !43
  %264 = getelementptr inbounds ptr, ptr %263, i64 %254
  br label %265

265:                                              ; preds = %262, %258
  %266 = phi ptr [ %264, %262 ], [ %261, %258 ]
  %267 = load ptr, ptr %266, align 8, !tbaa !23
  %268 = getelementptr inbounds %struct.XLA_FFI_Buffer, ptr %267, i64 0, i32 3
  %269 = load ptr, ptr %268, align 8, !tbaa !45
  %270 = getelementptr inbounds ptr, ptr %6, i64 %254
  store ptr %269, ptr %270, align 8, !tbaa !23
  br label %271

271:                                              ; preds = %265, %253, %203
  %272 = load ptr, ptr %48, align 8, !tbaa !64
  %273 = getelementptr inbounds %struct.Plan, ptr %31, i64 1, i32 1
  %274 = load i64, ptr %273, align 8, !tbaa !65
  call void %272(ptr noundef nonnull %6, i64 noundef 0, i64 noundef %274) #8
  call void @llvm.lifetime.end.p0(i64 512, ptr nonnull %6) #8
  br label %275

275:                                              ; preds = %202, %196, %55, %14, %38, %271
  %276 = phi ptr [ null, %14 ], [ %46, %38 ], [ null, %271 ], [ %63, %55 ], [ null, %196 ], [ null, %202 ]
  ret ptr %276
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nofree nounwind willreturn allockind("alloc,uninitialized") allocsize(0) memory(inaccessiblemem: readwrite)
declare noalias noundef ptr @malloc(i64 noundef) local_unnamed_addr #2

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #4

; Function Attrs: nounwind
declare i32 @sched_yield() local_unnamed_addr #5

; Function Attrs: nounwind uwtable(sync)
define internal void @help(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.Work, ptr %0, i64 0, i32 3
  %3 = getelementptr inbounds %struct.Work, ptr %0, i64 0, i32 3, i32 3
  %4 = atomicrmw add ptr %0, i64 1 seq_cst, align 8
  %5 = load i64, ptr %3, align 8, !tbaa !62
  %6 = icmp slt i64 %4, %5
  br i1 %6, label %7, label %24

7:                                                ; preds = %1
  %8 = getelementptr inbounds %struct.Work, ptr %0, i64 0, i32 3, i32 2
  %9 = getelementptr inbounds %struct.Work, ptr %0, i64 0, i32 4
  %10 = getelementptr inbounds %struct.Work, ptr %0, i64 0, i32 3, i32 1
  %11 = getelementptr inbounds %struct.Work, ptr %0, i64 0, i32 1
  br label %12

12:                                               ; preds = %12, %7
  %13 = phi i64 [ %4, %7 ], [ %21, %12 ]
  %14 = load i64, ptr %8, align 8, !tbaa !63
  %15 = mul nsw i64 %14, %13
  %16 = add nsw i64 %15, %14
  %17 = load ptr, ptr %2, align 8, !tbaa !64
  %18 = load i64, ptr %10, align 8, !tbaa !65
  %19 = tail call i64 @llvm.smin.i64(i64 %16, i64 %18)
  tail call void %17(ptr noundef nonnull %9, i64 noundef %15, i64 noundef %19) #8
  %20 = atomicrmw add ptr %11, i64 1 seq_cst, align 8
  %21 = atomicrmw add ptr %0, i64 1 seq_cst, align 8
  %22 = load i64, ptr %3, align 8, !tbaa !62
  %23 = icmp slt i64 %21, %22
  br i1 %23, label %12, label %24, !llvm.loop !66

24:                                               ; preds = %12, %1
  %25 = getelementptr inbounds %struct.Work, ptr %0, i64 0, i32 2
  %26 = atomicrmw sub ptr %25, i64 1 seq_cst, align 8
  %27 = icmp eq i64 %26, 1
  br i1 %27, label %28, label %29

28:                                               ; preds = %24
  tail call void @free(ptr noundef nonnull %0) #8
  br label %29

29:                                               ; preds = %24, %28
  ret void
}

; Function Attrs: mustprogress nounwind willreturn allockind("free") memory(argmem: readwrite, inaccessiblemem: readwrite)
declare void @free(ptr allocptr nocapture noundef) local_unnamed_addr #6

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smin.i64(i64, i64) #7

attributes #0 = { nounwind uwtable(sync) "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "tune-cpu"="generic" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nofree nounwind willreturn allockind("alloc,uninitialized") allocsize(0) memory(inaccessiblemem: readwrite) "alloc-family"="malloc" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "tune-cpu"="generic" }
attributes #3 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "tune-cpu"="generic" }
attributes #6 = { mustprogress nounwind willreturn allockind("free") memory(argmem: readwrite, inaccessiblemem: readwrite) "alloc-family"="malloc" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "tune-cpu"="generic" }
attributes #7 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { nounwind }
attributes #9 = { nounwind allocsize(0) }

!llvm.module.flags = !{!0, !1, !2, !3}
!llvm.ident = !{!4}

!0 = !{i32 7, !"Dwarf Version", i32 4}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{i32 8, !"PIC Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 1}
!4 = !{!"clang version 18.1.6 (https://github.com/ziglang/zig-bootstrap 98bc6bf4fc4009888d33941daf6b600d20a42a56)"}
!5 = !{!6, !10, i64 8}
!6 = !{!"XLA_FFI_CallFrame", !7, i64 0, !10, i64 8, !10, i64 16, !10, i64 24, !11, i64 32, !12, i64 40, !13, i64 80, !14, i64 120, !10, i64 168}
!7 = !{!"long", !8, i64 0}
!8 = !{!"omnipotent char", !9, i64 0}
!9 = !{!"Simple C/C++ TBAA"}
!10 = !{!"any pointer", !8, i64 0}
!11 = !{!"int", !8, i64 0}
!12 = !{!"XLA_FFI_Args", !7, i64 0, !10, i64 8, !7, i64 16, !10, i64 24, !10, i64 32}
!13 = !{!"XLA_FFI_Rets", !7, i64 0, !10, i64 8, !7, i64 16, !10, i64 24, !10, i64 32}
!14 = !{!"XLA_FFI_Attrs", !7, i64 0, !10, i64 8, !7, i64 16, !10, i64 24, !10, i64 32, !10, i64 40}
!15 = !{!16, !11, i64 8}
!16 = !{!"XLA_FFI_Extension_Base", !7, i64 0, !11, i64 8, !10, i64 16}
!17 = !{!18, !10, i64 24}
!18 = !{!"XLA_FFI_Metadata_Extension", !16, i64 0, !10, i64 24}
!19 = !{!20, !11, i64 16}
!20 = !{!"XLA_FFI_Api_Version", !7, i64 0, !10, i64 8, !11, i64 16, !11, i64 20}
!21 = !{!20, !11, i64 20}
!22 = !{!6, !10, i64 160}
!23 = !{!10, !10, i64 0}
!24 = !{!25, !10, i64 8}
!25 = !{!"XLA_FFI_Scalar", !11, i64 0, !10, i64 8}
!26 = !{!7, !7, i64 0}
!27 = distinct !{!27, !28}
!28 = !{!"llvm.loop.mustprogress"}
!29 = !{!30, !7, i64 0}
!30 = !{!"XLA_FFI_Error_Create_Args", !7, i64 0, !10, i64 8, !10, i64 16, !11, i64 24}
!31 = !{!30, !10, i64 8}
!32 = !{!30, !10, i64 16}
!33 = !{!30, !11, i64 24}
!34 = !{!6, !10, i64 16}
!35 = !{!36, !10, i64 48}
!36 = !{!"XLA_FFI_Api", !7, i64 0, !10, i64 8, !20, i64 16, !10, i64 40, !10, i64 48, !10, i64 56, !10, i64 64, !10, i64 72, !10, i64 80, !10, i64 88, !10, i64 96, !10, i64 104, !10, i64 112, !10, i64 120, !10, i64 128, !10, i64 136, !10, i64 144, !10, i64 152, !10, i64 160, !10, i64 168, !10, i64 176, !10, i64 184}
!37 = !{!38, !7, i64 32}
!38 = !{!"", !10, i64 0, !7, i64 8, !7, i64 16, !7, i64 24, !7, i64 32}
!39 = !{i64 0, i64 8, !40, i64 8, i64 8, !23, i64 16, i64 8, !26, i64 24, i64 8, !26, i64 32, i64 8, !26, i64 40, i64 8, !26, i64 48, i64 512, !40}
!40 = !{!8, !8, i64 0}
!41 = !{!6, !7, i64 56}
!42 = !{!6, !7, i64 96}
!43 = !{!6, !10, i64 72}
!44 = !{!6, !10, i64 112}
!45 = !{!46, !10, i64 24}
!46 = !{!"XLA_FFI_Buffer", !7, i64 0, !10, i64 8, !11, i64 16, !10, i64 24, !7, i64 32, !10, i64 40}
!47 = distinct !{!47, !28}
!48 = !{!49, !7, i64 0}
!49 = !{!"XLA_FFI_ThreadPool_Schedule_Args", !7, i64 0, !10, i64 8, !10, i64 16, !10, i64 24, !10, i64 32}
!50 = !{!49, !10, i64 8}
!51 = !{!6, !10, i64 24}
!52 = !{!49, !10, i64 16}
!53 = !{!49, !10, i64 24}
!54 = !{!49, !10, i64 32}
!55 = !{!36, !10, i64 136}
!56 = !{!57, !7, i64 0}
!57 = !{!"XLA_FFI_Error_Destroy_Args", !7, i64 0, !10, i64 8, !10, i64 16}
!58 = !{!57, !10, i64 8}
!59 = !{!57, !10, i64 16}
!60 = !{!36, !10, i64 64}
!61 = distinct !{!61, !28}
!62 = !{!38, !7, i64 24}
!63 = !{!38, !7, i64 16}
!64 = !{!38, !10, i64 0}
!65 = !{!38, !7, i64 8}
!66 = distinct !{!66, !28}
!67 = distinct !{!67, !28}
